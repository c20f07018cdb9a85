/** The proof of one event, for somebody who is to see no other: C2SP tlog-proof, the leaf as its `extra`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseCheckpoint } from "../format/note/checkpoint.ts";
import { LeafReader } from "../format/tree/leaf-reader.ts";
import { LogDamagedError, LogReader } from "../format/tree/log-reader.ts";
import { TileProofs } from "../format/tree/tile-proofs.ts";
import { tlogProof } from "../format/tree/tlog-proof.ts";

/**
 * @returns the text of a `.tlog-proof` under the newest witnessed checkpoint that covers the entry, else under the newest of all
 * @throws RangeError when no checkpoint covers the entry
 * @throws LogDamagedError
 */
export async function exportProof(logDir: string, index: number): Promise<string> {
  const { note, size } = await coveringCheckpoint(logDir, index);
  const reader = new LogReader(logDir);
  const leaf = await new LeafReader(reader).read(index, size);
  const hashes = await new TileProofs(reader, size).inclusion(index);
  return tlogProof(leaf, index, hashes, note);
}

async function coveringCheckpoint(
  logDir: string,
  index: number,
): Promise<{ note: string; size: number }> {
  for (const name of ["checkpoint.witnessed", "checkpoint"]) {
    const note = await readFile(join(logDir, name), "utf8").catch(() => null);
    if (note === null) continue;
    const checkpoint = parseCheckpoint(note);
    if (checkpoint === null) throw new LogDamagedError(0, `${name} is no checkpoint`);
    if (checkpoint.size > index) return { note, size: checkpoint.size };
  }
  throw new RangeError(`no checkpoint covers the entry ${index}`);
}
