/** The leaf of one event and its proof, under the newest checkpoint that witnesses countersigned where one covers it, else the newest. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import { TILE_WIDTH } from "@resontech/audit/format/tree/tile-layout";
import type { FollowedShard } from "../follow/followed-shard.ts";
import type { TrustedCheckpoint } from "../follow/trusted-checkpoint.ts";
import { isIncluded } from "@resontech/audit/format/tree/proof-check";
import { tlogProof } from "@resontech/audit/format/tree/tlog-proof";

export type ProvenEvent = { leaf: Buffer; leafHash: Buffer; proof: string };

/**
 * @param openNote reads a checkpoint of the shard and checks the log's own signatures
 * @throws LogDamagedError
 */
export async function proveEvent(
  { tree, logDir }: FollowedShard,
  index: number,
  openNote: (note: Buffer) => TrustedCheckpoint,
): Promise<ProvenEvent> {
  const newest = tree.checkpoint;
  const { entries, hashes } = await tree.readBundle(Math.floor(index / TILE_WIDTH));
  const leaf = entries[index % TILE_WIDTH]!;
  const leafHash = hashes[index % TILE_WIDTH]!;
  const witnessed = await readWitnessed(logDir, openNote);
  for (const { size, root, note } of witnessed === null ? [newest] : [witnessed, newest]) {
    if (index >= size || size > newest.size) continue;
    const path = await tree.auditPath(index, size);
    // A checkpoint that contradicts the tree is no proof of anything.
    if (isIncluded(index, leafHash, size, root, path))
      return { leaf, leafHash, proof: tlogProof(leaf, index, path, note) };
  }
  throw new LogDamagedError(index, "no checkpoint bears the entry out");
}

/** Reads what witnesses saw last; null while there is none, and for one that the log's own key has not signed. */
async function readWitnessed(
  logDir: string,
  openNote: (note: Buffer) => TrustedCheckpoint,
): Promise<TrustedCheckpoint | null> {
  try {
    return openNote(await readFile(join(logDir, "checkpoint.witnessed")));
  } catch {
    return null;
  }
}
