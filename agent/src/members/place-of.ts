import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import type { Place } from "../network/job-network.ts";

export function placeOf({ attempt, member, payload, bridge }: DesiredMember): Place {
  return { attempt, member, network: payload.network, bridge: bridge ?? null };
}
