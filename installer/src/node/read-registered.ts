import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NodeRegistered } from "@resontech/contracts/agent-protocol";
import { reader } from "@resontech/contracts/readable";

const read = reader(NodeRegistered);

/** What the agent of the node below `root` told of itself when it registered last; null before that. */
export function readRegistered(root: string): NodeRegistered | null {
  const file = join(root, "data", "agent", "registered.json");
  return existsSync(file) ? read(JSON.parse(readFileSync(file, "utf8"))) : null;
}
