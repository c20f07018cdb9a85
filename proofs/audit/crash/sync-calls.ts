/** Names the sync calls of the write path: what a call makes durable, by the file it syncs, or by the newest name in the folder it syncs. */
import { basename } from "node:path";
import { type Disk, DiskFile, DiskFolder, type DiskNode } from "./disk-model.ts";
import type { Call } from "./recording.ts";

/** The call that is about to sync `node` in this life; null when it has nothing to do. */
export function syncCallOf(node: DiskNode, life: number): string | null {
  if (node instanceof DiskFile) {
    if (node.changes.pending.length === 0) return null;
    return `bytes of ${fileKind(node.path)}${node.bornIn < life ? " of an earlier life" : ""}`;
  }
  const changed = node.changes.pending.filter(({ name }) => !name.endsWith(".new"));
  const last = changed.findLast((change) => change.node !== null) ?? changed.at(-1);
  if (last === undefined) return null;
  const path = node.path === "" ? last.name : `${node.path}/${last.name}`;
  // Partial files that full ones have replaced may come back: nobody reads them.
  if (last.node === null) return path.includes("/tile/") ? null : `removed name of ${fileKind(path)}`;
  return last.node instanceof DiskFolder ? `name of folder ${folderKind(path)}` : `name of ${fileKind(path)}`;
}

function fileKind(path: string): string {
  const name = basename(path, ".new");
  if (path.includes("/wal/")) return path.endsWith(".new") ? "new WAL segment" : "WAL segment";
  if (path.includes("/tile/entries/")) return "entry bundle";
  if (path.includes("/tile/")) return "tile";
  if (path.includes("/disclosures/")) return "disclosures";
  if (path.includes("/ballast/")) return "ballast";
  if (path.startsWith("keys/")) return "key";
  return name;
}

function folderKind(path: string): string {
  if (path.includes("/tile")) return "of the tree";
  if (/^audit\/[0-9]{4}$/.test(path)) return "of the shard";
  return basename(path);
}

/** What a call does to what; points are drawn from every kind alike, so that rare ones are not missed. */
export function callKindOf(call: Call, disk: Disk): string | null {
  switch (call.op) {
    case "life":
    case "sync-end":
      return call.op;
    case "mark":
      return null;
    case "write":
    case "truncate":
    case "chmod":
    case "sync-begin":
      return `${call.op} ${fileKind(disk.node(call.inode).path)}`;
    default:
      return `${call.op} ${fileKind("to" in call ? call.to : call.path)}`;
  }
}
