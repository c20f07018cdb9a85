import type { JobHost } from "@resontech/frame/job-host";
import { toolsHome } from "../host-tools/tools-environment.ts";
import type { NodeContext } from "./node-context.ts";

/** A host that joined as a node. */
export function nodeHost({ config, layout }: Pick<NodeContext, "config" | "layout">): JobHost {
  return {
    ...{ ...config, kind: "node", trustFile: layout.rootCert },
    toolsHome: config.hostTools === "bundle" ? toolsHome(layout.current) : null,
  };
}
