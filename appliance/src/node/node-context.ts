import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NodeConfig } from "@resontech/contracts/node-config";
import { reader } from "@resontech/contracts/readable";
import { Layout } from "@resontech/frame/layout";
import type { ReleaseContext } from "../parts/context.ts";
import { readRelease } from "../release.ts";

const readConfig = reader(NodeConfig);

export type NodeContext = ReleaseContext & { config: NodeConfig };

/** The configuration of a node is missing or can't be used; the message names the file. */
export class NodeConfigInvalidError extends Error {
  readonly code = "config_invalid";
}

export const nodeConfigFile = (root: string): string => join(root, "etc", "node.json");

/** What this host was told when it joined. @throws NodeConfigInvalidError */
export function readNodeConfig(root: string): NodeConfig {
  const file = nodeConfigFile(root);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new NodeConfigInvalidError(`${file} can't be read`, { cause });
  }
  const config = readConfig(value);
  if (config === null) throw new NodeConfigInvalidError(`${file} is no configuration of a node`);
  return config;
}

/** What every command of a node works on. @throws NodeConfigInvalidError */
export function openNode(root: string): NodeContext {
  const config = readNodeConfig(root);
  const layout = new Layout(root, config.instance);
  return { config, layout, release: readRelease(layout.current) };
}
