import { agentInboxPrefix, agentSubject } from "@resontech/contracts/agent-protocol";
import type { NodeCaller } from "./caller.ts";

/** The subjects of NATS that a node may publish to and hear: its own verbs, its hint and its own inbox. */
export function busSubjectsOf({ node }: NodeCaller): { publish: string[]; subscribe: string[] } {
  return {
    publish: [`agent.${node}.>`],
    subscribe: [agentSubject(node, "hint"), `${agentInboxPrefix(node)}.>`],
  };
}
