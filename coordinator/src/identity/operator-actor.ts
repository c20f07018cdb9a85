import type { committer } from "@resontech/audit/producer";
import type { Actor } from "@resontech/contracts/audit-event";

/** The operator of the box, with a commitment to the person of the host who asks, where somebody signed in. */
export function operatorActor(person: string | null, commit: ReturnType<typeof committer>): Actor {
  return { sub: "operator", kind: "operator", ...(person === null ? {} : { sid: commit("actor.sid", person) }) };
}
