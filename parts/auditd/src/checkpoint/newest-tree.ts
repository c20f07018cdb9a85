/**
 * The tree from which a start goes on. A shard's folder has two checkpoints, `checkpoint` and the newest that was witnessed. Each is durable
 * before the next thing happens, so the witnessed one is never the newer, unless the disk lost what it said it had: then the newer one counts
 * wherever what is durable bears it out, because the log has signed it and others hold it.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { WithRoom } from "@resontech/frame/durable-file";
import { openCheckpoint, type SignedCheckpoint } from "@resontech/audit/format/note/checkpoint";
import {
  frontierOfEdge,
  LogDamagedError,
  LogReader,
} from "@resontech/audit/format/tree/log-reader";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import { TileProofs } from "@resontech/audit/format/tree/tile-proofs";
import { TreeWriter } from "./tree-writer.ts";

export type NewestTree = {
  tree: TreeWriter;
  /** `checkpoint.witnessed`, where its tree is larger than the tiles are. */
  ahead: SignedCheckpoint | null;
};

/** @throws LogDamagedError when the tiles do not bear out what the log signed, or it signed two trees */
export async function openNewestTree(
  logDir: string,
  keys: readonly NoteKey[],
  withRoom: WithRoom,
): Promise<NewestTree> {
  const published = await readOwn(logDir, "checkpoint", keys);
  if (published === null)
    throw new LogDamagedError(0, "the checkpoint is missing; a log is made only by `init`");
  const witnessed = await readOwn(logDir, "checkpoint.witnessed", keys);
  const open = async ({ size, root }: SignedCheckpoint): Promise<TreeWriter> => {
    const tree = await TreeWriter.open(logDir, size, withRoom);
    if (tree.root().equals(root)) return tree;
    throw new LogDamagedError(
      0,
      `the tiles do not give the root of the checkpoint of ${size} leaves`,
    );
  };
  if (witnessed === null || witnessed.size <= published.size)
    return { tree: await open(published), ahead: null };
  if (!(await hasTiles(logDir, witnessed.size, withRoom)))
    return { tree: await open(published), ahead: witnessed };
  const tree = await open(witnessed);
  const before = await new TileProofs(new LogReader(logDir), witnessed.size).root(
    0,
    published.size,
  );
  if (!before.equals(published.root))
    throw new LogDamagedError(0, "checkpoint is no beginning of checkpoint.witnessed");
  return { tree, ahead: null };
}

/**
 * What others have seen that is durable nowhere here; null when these leaves, which follow the tiles, bear it out.
 * @throws LogDamagedError when they give another tree
 */
export async function missingOf(
  logDir: string,
  { tree, ahead }: NewestTree,
  leaves: readonly Buffer[],
): Promise<SignedCheckpoint | null> {
  if (ahead === null || ahead.size > tree.size + leaves.length) return ahead;
  const frontier = frontierOfEdge(await new LogReader(logDir).readRightEdge(tree.size));
  for (const leaf of leaves.slice(0, ahead.size - tree.size)) frontier.append(hashLeaf(leaf));
  if (frontier.root().equals(ahead.root)) return null;
  throw new LogDamagedError(
    tree.size,
    "the write-ahead log does not give the root of checkpoint.witnessed",
  );
}

/** Reads a checkpoint of the log; null when it is not there. @throws LogDamagedError when the log did not sign it */
async function readOwn(
  logDir: string,
  name: string,
  keys: readonly NoteKey[],
): Promise<SignedCheckpoint | null> {
  let note: string;
  try {
    note = await readFile(join(logDir, name), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  const checkpoint = openCheckpoint(note, keys);
  if (checkpoint === null)
    throw new LogDamagedError(0, `${name} is not signed by both keys of this log`);
  return checkpoint;
}

async function hasTiles(logDir: string, size: number, withRoom: WithRoom): Promise<boolean> {
  try {
    await TreeWriter.open(logDir, size, withRoom);
    return true;
  } catch (error) {
    if (error instanceof LogDamagedError) return false;
    throw error;
  }
}
