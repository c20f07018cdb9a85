/** Parts that run on a host that joined as a node, in the order of need. Apart from `index.ts`: a node's program holds no code of the others. */
import { agent } from "@resontech/agent/part";
import type { HostPart } from "@resontech/frame/define-part";
import { podman } from "@resontech/podman/part";

export const NODE_PARTS: readonly HostPart[] = [podman, agent];
