/**
 * Writes the journal of model calls as a file for an auditor: JSON, a line each. The log has a leaf `model.calls` for each batch of the journal, with the
 * root over the batch's lines; here every line comes with its inclusion proof, so the verifier can tell a changed, a missing and an added call. First the
 * head, which says what the file is about; then for each batch its head, and its lines.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import { removeLeftovers, replaceFileWith } from "@resontech/frame/durable-file";
import { parseLeaf } from "../format/event/leaf.ts";
import { parseCheckpoint } from "../format/note/checkpoint.ts";
import { inclusionProofs } from "../format/tree/inclusion-proofs.ts";
import { LogDamagedError, LogReader } from "../format/tree/log-reader.ts";
import { hashLeaf } from "../format/tree/merkle.ts";
import { TILE_WIDTH } from "../format/tree/tile-layout.ts";
import { isWithin, type LogPeriod } from "./log-period.ts";

/** What an export asks of the journal. */
export type CallJournalReader = {
  /**
   * The lines of a batch, without their line breaks; null where the journal has it no more.
   * @param time when the log took the batch, in the log's form
   */
  batch: (id: string, time: string) => Promise<readonly string[] | null>;
  /** Null for a line that does not say: the end of a call names the call alone. */
  facts: (line: string) => { kind: string; id: string; deployment: string | null } | null;
};

export type CallsExport = {
  origin: string;
  /** Entries of the log among which all batches were looked for. */
  size: number;
  bytes: number;
  sha256: string;
  batches: number;
  /** Lines of calls, of their ends, and of what was dialled for them. */
  lines: number;
  calls: number;
  /** Batches that the journal has no more: the file says so. */
  gone: number;
  /** Entry of the first batch whose lines do not give the root in the log; null where all do. */
  firstDamaged: number | null;
};

export type CallsOptions = {
  logDir: string;
  /** Written beside and renamed, 0640. */
  file: string;
  period: LogPeriod;
  /** Calls of this one alone. */
  deployment?: string;
  journal: CallJournalReader;
};

/** @throws LogDamagedError when a file of the tree is missing or has the wrong size */
export async function exportCalls(options: CallsOptions): Promise<CallsExport> {
  const { logDir, file, period, deployment = null, journal } = options;
  const checkpoint = parseCheckpoint(await readFile(join(logDir, "checkpoint"), "utf8"));
  if (checkpoint === null) throw new LogDamagedError(0, "the checkpoint is none");
  const { origin, size } = checkpoint;
  const result: CallsExport = {
    ...{ origin, size, bytes: 0, sha256: "", batches: 0, lines: 0, calls: 0, gone: 0 },
    firstDamaged: null,
  };
  const digest = createHash("sha256");
  const chosen = new ChosenLines(deployment, journal.facts);
  await removeLeftovers(dirname(file), { of: basename(file) });
  await replaceFileWith(file, 0o640, async (handle) => {
    const write = async (...lines: object[]): Promise<void> => {
      const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      digest.update(text);
      result.bytes += text.length;
      await handle.appendFile(text);
    };
    await write({ kind: "calls", v: 1, origin, size, ...period, deployment });
    for await (const { entry, time, detail } of batchesOf(logDir, size, period)) {
      const lines = await journal.batch(detail.batch, time);
      const head = { kind: "batch", entry, lines: detail.lines, root: detail.root };
      if (lines === null) {
        if (!chosen.mayHave(detail)) continue;
        result.batches += 1;
        result.gone += 1;
        await write({ ...head, gone: true });
        continue;
      }
      const { root, paths } = inclusionProofs(lines.map((line) => hashLeaf(Buffer.from(line))));
      if (root.toString("hex") !== detail.root || lines.length !== detail.lines)
        result.firstDamaged ??= entry;
      const shown = lines.flatMap((text, at) => {
        const facts = chosen.take(text);
        if (facts === null) return [];
        if (facts.kind === "call") result.calls += 1;
        const proof = paths[at]!.map((hash) => hash.toString("hex"));
        return [{ kind: "line", entry, at, text, proof }];
      });
      if (shown.length === 0 && !chosen.mayHave(detail)) continue;
      result.batches += 1;
      result.lines += shown.length;
      await write(head, ...shown);
    }
  });
  return { ...result, sha256: digest.digest("hex") };
}

const OF_CALLS = Buffer.from('"type":"model.calls"');

async function* batchesOf(
  logDir: string,
  size: number,
  period: LogPeriod,
): AsyncGenerator<{ entry: number; time: string; detail: EventDetail<"model.calls"> }> {
  const reader = new LogReader(logDir);
  for (let first = 0; first < size; first += TILE_WIDTH) {
    const width = Math.min(TILE_WIDTH, size - first);
    const entries = await reader.readEntries(first / TILE_WIDTH, width);
    for (const [at, leaf] of entries.entries()) {
      // Most entries are others, and to parse each costs more than to read it.
      if (!leaf.includes(OF_CALLS)) continue;
      const { type, t_log: time, detail } = parseLeaf(leaf);
      if (type !== "model.calls" || !isWithin(period, time)) continue;
      yield { entry: first + at, time, detail: detail as EventDetail<"model.calls"> };
    }
  }
}

/** Which lines belong to the deployment that is asked for: an end does where its call did. */
class ChosenLines {
  readonly #deployment: string | null;
  readonly #facts: CallJournalReader["facts"];
  readonly #open = new Set<string>();

  constructor(deployment: string | null, facts: CallJournalReader["facts"]) {
    this.#deployment = deployment;
    this.#facts = facts;
  }

  /** Whether a batch has, or may have, calls of it: as its leaf says. */
  mayHave({ calls, called = [] }: EventDetail<"model.calls">): boolean {
    const named = called.reduce((sum, one) => sum + one.calls, 0);
    return (
      this.#deployment === null ||
      named < calls ||
      called.some(({ deployment }) => deployment === this.#deployment)
    );
  }

  /** Null for a line that is of none. */
  take(text: string): { kind: string } | null {
    const facts = this.#facts(text);
    if (this.#deployment === null) return facts ?? { kind: "unknown" };
    if (facts === null) return null;
    const { kind, id, deployment } = facts;
    if (kind === "end") return this.#open.delete(id) ? facts : null;
    if (deployment !== this.#deployment) return null;
    if (kind === "call") this.#open.add(id);
    return facts;
  }
}
