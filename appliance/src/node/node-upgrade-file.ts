/** What a node's installer keeps of bringing another release: see `NodeUpgrade`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_UPGRADE_FILE, NodeUpgrade } from "@resontech/contracts/node-upgrade";
import { reader } from "@resontech/contracts/readable";

const read = reader(NodeUpgrade);

export const nodeUpgradeFile = (root: string): string =>
  join(root, "data", "agent", NODE_UPGRADE_FILE);

/** Reads how bringing another release went; null where there was none, or it can't be read. */
export function readNodeUpgrade(root: string): NodeUpgrade | null {
  try {
    return read(JSON.parse(readFileSync(nodeUpgradeFile(root), "utf8")));
  } catch {
    return null;
  }
}
