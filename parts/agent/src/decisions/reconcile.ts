/** What must change on this node so that it runs what is desired and nothing else. Pure; the members carry it out. */
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { compareFences, type Fence } from "@resontech/contracts/fence";

export type LocalMember = {
  member: string;
  fence: Fence;
  /** `run`: on its way or running; `commit`: told to stop after its commit; `stop`: told to stop; `released`: nothing of it is left. */
  state: "run" | "commit" | "stop" | "released";
  /** Reports that the coordinator has not taken yet. */
  pendingReports: number;
};

export type Step =
  | { do: "start"; desired: DesiredMember }
  /** Ends an older incarnation; a later look starts the new one. */
  | { do: "supersede"; member: string }
  /** Orderly: the payload may end by itself within the grace, then outputs are let go. */
  | { do: "stop"; member: string; reason: string; graceMs: number }
  /** Orderly, once the payload has committed what it has: it has the grace for that. */
  | { do: "commit"; member: string; reason: string; graceMs: number }
  /** Tears down whatever is left under this member's name and reports `released` under the desired fence. */
  | { do: "clear"; desired: DesiredMember }
  /** At once and without a word: nobody desires it. */
  | { do: "kill"; member: string }
  | { do: "forget"; member: string };

export function reconcile(
  desired: readonly DesiredMember[],
  local: readonly LocalMember[],
  mayStart: boolean,
): Step[] {
  const steps: Step[] = [];
  const here = new Map(local.map((member) => [member.member, member]));
  const wanted = new Set(desired.map((member) => member.member));
  for (const member of desired) {
    const found = here.get(member.member);
    const age = found === undefined ? null : compareFences(found.fence, member.fence);
    if (member.desired === "stop") {
      if (found === undefined || (age !== null && age < 0))
        steps.push({ do: "clear", desired: member });
      else if (isNews(found.state, member))
        steps.push({
          do: member.stopAfter ?? "stop",
          member: member.member,
          reason: member.stopReason ?? "attempt_ended",
          graceMs: member.graceMs,
        });
    } else if (found === undefined) {
      if (mayStart) steps.push({ do: "start", desired: member });
    } else if (age !== null && age < 0) {
      steps.push(
        found.state === "released"
          ? { do: "forget", member: member.member }
          : { do: "supersede", member: member.member },
      );
    }
  }
  for (const member of local) {
    if (wanted.has(member.member)) continue;
    if (member.state !== "released") steps.push({ do: "kill", member: member.member });
    else if (member.pendingReports === 0) steps.push({ do: "forget", member: member.member });
  }
  return steps;
}

/** Whoever commits may still be told to stop now, and never the other way round. */
function isNews(state: LocalMember["state"], { stopAfter }: DesiredMember): boolean {
  return state === "run" || (state === "commit" && stopAfter === undefined);
}
