/** What a start reads before anything is written: checkpoint, tree, leaves, write-ahead log. */
import { join } from "node:path";
import type { WithRoom } from "@resontech/frame/durable-file";
import { Ledger } from "../decisions/ledger.ts";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import type { Checkpoint } from "@resontech/audit/format/note/checkpoint";
import { LogReader } from "@resontech/audit/format/tree/log-reader";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import { TILE_WIDTH } from "@resontech/audit/format/tree/tile-layout";
import { checkEntries, type TreeWriter } from "../checkpoint/tree-writer.ts";
import { readWal, type WalContent } from "../wal/wal-recovery.ts";
import { loadLedger } from "../commit/ledger-file.ts";
import { missingOf, openNewestTree } from "../checkpoint/newest-tree.ts";

export type Recovered = {
  tree: TreeWriter;
  ledger: Ledger;
  wal: WalContent;
  /** A checkpoint that was witnessed, of more leaves than are durable. */
  missing: Checkpoint | null;
};

/**
 * Takes the log up from its files.
 * @throws LogDamagedError when they do not bear out the last checkpoint, or the write-ahead log is bad anywhere but at its end
 */
export async function recover(
  logDir: string,
  origin: string,
  keys: readonly NoteKey[],
  families: ReadonlyMap<string, string>,
  withRoom: WithRoom,
): Promise<Recovered> {
  const newest = await openNewestTree(logDir, keys, withRoom);
  const { tree } = newest;
  const { size } = tree;
  const wal = await readWal(join(logDir, "wal"), size);
  const missing = await missingOf(logDir, newest, wal.leaves);
  const ledger = await rebuildLedger(logDir, origin, size, families);
  for (const [at, leaf] of wal.leaves.entries()) apply(ledger, leaf, size + at);
  return { tree, ledger, wal, missing };
}

/** The ledger of a tree of `size` leaves, from what was saved of it and the leaves since. @throws LogDamagedError */
export async function rebuildLedger(
  logDir: string,
  origin: string,
  size: number,
  families: ReadonlyMap<string, string>,
): Promise<Ledger> {
  const reader = new LogReader(logDir);
  const saved = await loadLedger(logDir);
  const usable =
    saved !== null &&
    saved.origin === origin &&
    saved.size <= size &&
    (await holdsLast(reader, size, saved));
  const ledger = new Ledger(families, usable ? saved.ledger : undefined);
  const from = usable ? saved.size : 0;
  for (let bundle = Math.floor(from / TILE_WIDTH); bundle * TILE_WIDTH < size; bundle++) {
    const first = bundle * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, size - first);
    const entries = await reader.readEntries(bundle, width);
    checkEntries(entries, await reader.readHashes(0, bundle, width), first);
    for (const [at, leaf] of entries.entries())
      if (first + at >= from) apply(ledger, leaf, first + at);
  }
  return ledger;
}

async function holdsLast(
  reader: LogReader,
  size: number,
  saved: { size: number; lastLeafHash: string },
): Promise<boolean> {
  if (saved.size === 0) return true;
  const index = saved.size - 1;
  const bundle = Math.floor(index / TILE_WIDTH);
  const hashes = await reader.readHashes(
    0,
    bundle,
    Math.min(TILE_WIDTH, size - bundle * TILE_WIDTH),
  );
  return hashes[index % TILE_WIDTH]!.toString("hex") === saved.lastLeafHash;
}

function apply(ledger: Ledger, leaf: Buffer, index: number): void {
  ledger.apply(parseLeaf(leaf), index, hashLeaf(leaf).toString("hex"));
}
