/** Why members ended, by their events. Pure. */
import type { JobHistoryReply } from "@resontech/contracts/http-jobs";

/** @returns the member's id → the first reason that was told of it, in words */
export function endsOf(events: JobHistoryReply["events"]): ReadonlyMap<string, string> {
  const ends = new Map<string, string>();
  for (const { member, reason } of events)
    if (member !== null && reason !== null && !ends.has(member.id))
      ends.set(member.id, reason.replaceAll("_", " "));
  return ends;
}
