import { existsSync } from "node:fs";
import { join } from "node:path";
import { nodeConfigFile } from "@resontech/appliance/node-context";
import { Journal } from "./journal.ts";
import { ROOT_ENTRIES, rootState } from "./steps/root-folder.ts";

export const DEFAULT_NODE_ROOT = "/opt/resontech-node";
/** Takes this host away from the appliance again. */
export const LEAVE_SCRIPT = "leave";
/** Public key that signs releases, as it was compared when the host joined. */
export const releaseKeyFile = (root: string): string => join(root, "etc", "release-key.pem");
/** What a join makes directly below its root; leaving removes these and nothing else there. */
export const NODE_ENTRIES = [LEAVE_SCRIPT, ...ROOT_ENTRIES] as const;

/** Tells whether a host joined an appliance below this root, or began to. */
export function isNode(root: string): boolean {
  return existsSync(nodeConfigFile(root));
}

/** Whether another kind of install of ours is there. */
export function isAppliance(root: string): boolean {
  return rootState(root) === "ours" && !isNode(root) && new Journal(root).lastBegin !== null;
}
