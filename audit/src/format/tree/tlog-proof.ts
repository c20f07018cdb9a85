/** C2SP tlog-proof of one event: its index, the audit path, and the checkpoint that it leads to; `extra` is the leaf. */

export function tlogProof(
  leaf: Buffer,
  index: number,
  path: readonly Buffer[],
  checkpoint: string,
): string {
  const lines = ["c2sp.org/tlog-proof@v1", `extra ${leaf.toString("base64")}`, `index ${index}`];
  return `${[...lines, ...path.map((hash) => hash.toString("base64"))].join("\n")}\n\n${checkpoint}`;
}
