import { AGENT_PROTOCOL } from "@resontech/contracts/agent-protocol";
import type { NodeRow } from "./rows.ts";

/** Answers what the last registration agreed on. One that another release of the coordinator took agreed on nothing that this one knows of. */
export function agentProtocolOf({
  agent_protocol,
  agent_protocol_at,
  registered_at,
}: NodeRow): number {
  return agent_protocol === null || agent_protocol_at !== registered_at
    ? AGENT_PROTOCOL.min
    : agent_protocol;
}
