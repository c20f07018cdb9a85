/** Names the sync calls of the write path: what a call makes durable, by the file it syncs, or by the newest name in the folder it syncs. */
import { basename } from "node:path";
import { type Disk, DiskFile, DiskFolder, type DiskNode, isKey } from "./disk-model.ts";
import type { Call } from "./recording.ts";

/** What a life that finds it syncs, whoever made it. */
const SYNCED_AGAIN = /^(key|audit\.policy|current|tile|entry bundle|folder .*)$/;

/** The call that is about to sync `node`; null when it has nothing to do. What an earlier life changed is synced by calls of their own. */
export function syncCallOf(
  node: DiskNode,
  { life, lifeFrom }: Pick<Disk, "life" | "lifeFrom">,
): string | null {
  if (node instanceof DiskFile) {
    if (node.changes.pending.length === 0) return null;
    const isOlder = node.bornIn < life;
    // Keys are written once more, to end them.
    if (isKey(node.path)) return `bytes of ${isOlder ? "destroyed " : ""}key`;
    return `bytes of ${fileKind(node.path)}${isOlder ? " of an earlier life" : ""}`;
  }
  const last = node.changes.pending.findLast(({ name }) => !name.endsWith(".new"));
  if (last === undefined) return null;
  const path = node.path === "" ? last.name : `${node.path}/${last.name}`;
  // Partial files that full ones have replaced may come back: nobody reads them.
  if (last.node === null && path.includes("/tile/")) return null;
  const what = last.node instanceof DiskFolder ? `folder ${folderKind(path)}` : fileKind(path);
  const isOlder = last.at < lifeFrom;
  // Of others an earlier life's name is synced by chance, for a name that is durable: their own call comes with the next one of them.
  if (isOlder && !SYNCED_AGAIN.test(what)) return null;
  return `${last.node === null ? "removed name" : "name"} of ${what}${isOlder ? " of an earlier life" : ""}`;
}

function fileKind(path: string): string {
  const name = basename(path).replace(/\.[0-9a-f]{16}\.new$/, "");
  if (path.includes("/wal/")) return path.endsWith(".new") ? "new WAL segment" : "WAL segment";
  if (path.includes("/tile/entries/")) return "entry bundle";
  if (path.includes("/tile/")) return "tile";
  if (path.includes("/disclosures/")) return "disclosures";
  if (path.includes("/ballast/")) return "ballast";
  if (isKey(path)) return "key";
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
