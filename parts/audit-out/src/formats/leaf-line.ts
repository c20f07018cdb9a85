import type { ExportedEvent } from "./exported-event.ts";

/** The leaf as it is, in a line that says where it stands. Canonical JSON, so the leaf's bytes can be cut out and hashed. */
export function leafLine({ index, leaf, leafHash, origin, treeSize }: ExportedEvent): string {
  return `{"index":${index},"leaf":${leaf},"leaf_hash":"${leafHash}","origin":${JSON.stringify(origin)},"tree_size":${treeSize}}`;
}
