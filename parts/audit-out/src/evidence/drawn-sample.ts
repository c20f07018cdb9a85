/** The proof of each entry that was drawn, under the checkpoint of its bundle. */
import { open } from "node:fs/promises";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import { TILE_WIDTH } from "@resontech/audit/format/tree/tile-layout";
import { tlogProof } from "@resontech/audit/format/tree/tlog-proof";
import type { VerifiedTree } from "../follow/verified-tree.ts";

export type DrawnEntry = { index: number; event: AuditEvent; proof: string };

/** @param size of the bundle @param note its checkpoint */
export async function* proveDrawn(
  tree: VerifiedTree,
  { size, note }: { size: number; note: string },
  indices: readonly number[],
): AsyncGenerator<DrawnEntry> {
  for (const index of indices) {
    const { entries } = await tree.readBundle(Math.floor(index / TILE_WIDTH));
    const leaf = entries[index % TILE_WIDTH]!;
    const proof = tlogProof(leaf, index, await tree.auditPath(index, size), note);
    yield { index, event: parseLeaf(leaf), proof };
  }
}

const HEADER_BYTES = 512;
const [SIZE_AT, SIZE_END] = [124, 135];

/** The first member of a bundle. */
export async function checkpointOf(bundle: string): Promise<string> {
  await using handle = await open(bundle, "r");
  const header = Buffer.alloc(HEADER_BYTES);
  await handle.read(header, 0, HEADER_BYTES, 0);
  const bytes = Number.parseInt(header.toString("latin1", SIZE_AT, SIZE_END), 8);
  const note = Buffer.alloc(bytes);
  await handle.read(note, 0, bytes, HEADER_BYTES);
  return note.toString("utf8");
}
