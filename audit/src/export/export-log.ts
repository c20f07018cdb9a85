/**
 * Writes a shard as one file for an auditor: a deterministic, uncompressed ustar of the checkpoint, the hourly ones before it, and every file of its
 * tree in the order of {@link filesOfTree}, disclosures before the entries that they open. The same state always gives the same bytes. It reads the
 * log's folder alone and needs no auditd.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { removeLeftovers, replaceFileWith } from "@resontech/frame/durable-file";
import { LogReader } from "../format/tree/log-reader.ts";
import { filesOfTree, TILE_WIDTH, type TileName, tilePath } from "../format/tree/tile-layout.ts";
import { END_OF_ARCHIVE, ustarMember } from "./ustar.ts";

export { type CallsExport, exportCalls } from "./export-calls.ts";
export { exportProof } from "./export-proof.ts";
export {
  asPage,
  asTerminalText,
  type PrintedCheckpoint,
  printedCheckpoint,
} from "./printed-checkpoint.ts";
export { type LogShard, findLogShard, logShardsOf } from "./find-log-shard.ts";
export { type LogPeriod, WHOLE } from "./log-period.ts";

export type ExportResult = {
  origin: string;
  /** Leaves. */
  size: number;
  bytes: number;
  sha256: string;
};

/** Entries `from` to `to - 1` of an export of `size` entries. */
export type DisclosedRange = { from: number; to: number; size: number };

export type ExportOptions = {
  logDir: string;
  /** Written beside and renamed, 0640; a file that is there is replaced, and stays where the export fails. */
  file: string;
  /** The newest checkpoint that the policy's witnesses countersigned, if it covers this leaf, or all of them; else the newest of all. @default the newest */
  witnessedFor?: number | "all";
  /** Lines that open or mark commitments of these entries, each canonical JSON, in order of index and field; null for none. */
  disclose?: (entries: DisclosedRange) => Promise<readonly string[] | null>;
  signal?: AbortSignal;
};

/**
 * The caller logs `audit.export` before and after, and waits until a checkpoint covers the first of the two.
 * @throws LogDamagedError when a file of the tree is missing or has the wrong size
 */
export async function exportLog({
  logDir,
  file,
  witnessedFor,
  disclose,
  signal,
}: ExportOptions): Promise<ExportResult> {
  const checkpoint = await chooseCheckpoint(logDir, witnessedFor);
  const { origin, size } = headOf(checkpoint);
  const reader = new LogReader(logDir);
  const digest = createHash("sha256");
  let bytes = 0;
  // What an export left that was killed may hold opened values.
  await removeLeftovers(dirname(file), { of: basename(file) });
  await replaceFileWith(file, 0o640, async (handle) => {
    const write = async (part: Buffer): Promise<void> => {
      signal?.throwIfAborted();
      digest.update(part);
      bytes += part.length;
      await handle.appendFile(part);
    };
    await write(ustarMember("checkpoint", checkpoint));
    for (const kept of await keptCheckpoints(logDir, size))
      await write(ustarMember(`checkpoints/${kept.size}`, kept.note));
    for (const name of filesOfTree(size)) {
      if (name.level === "entries" && disclose !== undefined) {
        const first = name.index * TILE_WIDTH;
        const lines = await disclose({ from: first, to: first + name.width, size });
        if (lines !== null)
          await write(
            ustarMember(
              disclosuresPath(name),
              Buffer.from(lines.map((line) => `${line}\n`).join("")),
            ),
          );
      }
      await write(ustarMember(tilePath(name), await reader.read(name)));
    }
    await write(END_OF_ARCHIVE);
  });
  return { origin, size, bytes, sha256: digest.digest("hex") };
}

async function chooseCheckpoint(
  logDir: string,
  witnessedFor: ExportOptions["witnessedFor"],
): Promise<Buffer> {
  const newest = await readFile(join(logDir, "checkpoint"));
  if (witnessedFor === undefined) return newest;
  const witnessed = await readFile(join(logDir, "checkpoint.witnessed")).catch(() => null);
  const leaf = witnessedFor === "all" ? headOf(newest).size - 1 : witnessedFor;
  return witnessed !== null && headOf(witnessed).size > leaf ? witnessed : newest;
}

/** The hourly ones below `size`, ascending. */
async function keptCheckpoints(
  logDir: string,
  size: number,
): Promise<{ size: number; note: Buffer }[]> {
  const folder = join(logDir, "checkpoints");
  const names = await readdir(folder).catch(() => []);
  const sizes = names.filter((name) => /^[1-9][0-9]{0,15}$/.test(name)).map(Number);
  const below = sizes.filter((one) => one < size).sort((a, b) => a - b);
  return Promise.all(
    below.map(async (one) => ({ size: one, note: await readFile(join(folder, String(one))) })),
  );
}

function headOf(note: Buffer): { origin: string; size: number } {
  const [origin = "", size = ""] = note.toString("utf8").split("\n");
  return { origin, size: Number(size) };
}

function disclosuresPath(name: TileName): string {
  return tilePath(name).replace(/^tile\/entries\//, "disclosures/");
}
