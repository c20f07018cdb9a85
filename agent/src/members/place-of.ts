import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import type { Place } from "../network/job-network.ts";

export function placeOf({ attempt, member, role, federation, bridge }: DesiredMember): Place {
  const { serverName, serverPort } = federation;
  return { attempt, member, index: role.kind === "client" ? role.index : null, serverName, serverPort, bridge: bridge ?? null };
}
