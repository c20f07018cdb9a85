/** Makes what the parts of a node need to start; each start does it again, so a changed configuration or release is followed. */
import { dataFoldersOf } from "@resontech/frame/define-part";
import { NODE_PARTS } from "@resontech/parts/node-parts";
import { ensureFolder, ROOT } from "../config/owned-file.ts";
import { writeHostConfig } from "../parts/host-part.ts";
import type { NodeContext } from "./node-context.ts";
import { nodeHost } from "./node-host.ts";

export function prepareNode(context: NodeContext): void {
  const { layout } = context;
  for (const folder of [layout.etc, layout.data(), layout.run(".."), layout.run()])
    ensureFolder(folder, ROOT, 0o755);
  ensureFolder(layout.log(""), ROOT, 0o750);
  for (const { name, mode } of NODE_PARTS.flatMap(dataFoldersOf))
    ensureFolder(layout.data(name), ROOT, mode);
  for (const part of NODE_PARTS) writeHostConfig(context, nodeHost(context), part);
}
