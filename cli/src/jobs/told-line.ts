/** A change of a job as one line of a terminal; null for what nobody waits for. Pure. */
import type { Change } from "@resontech/contracts/live-feed";
import { JOB_WORDS, MEMBER_WORDS } from "@resontech/contracts/state-words";
import { printable } from "../printable.ts";
import { size, toldWithUnits } from "../size.ts";

/** @param nameOf a member in words */
export function toldLine(
  at: string,
  change: Change,
  nameOf: (member: string) => string,
): string | null {
  const words = wordsOf(change, nameOf);
  return words === null ? null : `${at.slice(11, 19)}Z  ${printable(words)}`;
}

function wordsOf(change: Change, nameOf: (member: string) => string): string | null {
  switch (change.kind) {
    case "job":
      // Steps on the way to one state are no news to a person.
      if (
        change.from !== null &&
        JOB_WORDS[change.from] === JOB_WORDS[change.to] &&
        change.reason === null
      )
        return null;
      return withReason(JOB_WORDS[change.to], change.reason);
    case "waiting":
      return change.why === null ? null : `waits: ${toldWithUnits(change.why)}`;
    case "member-added":
      return `${change.site ?? change.role} goes to ${change.node}${(change.workers?.length ?? 0) > 1 ? `, with ${change.workers!.length} workers` : ""}`;
    case "member":
      return withReason(`${nameOf(change.member)} ${MEMBER_WORDS[change.to]}`, change.reason);
    case "progress":
      return change.total === null || change.total === 0
        ? `${nameOf(change.member)} ${change.step}`
        : `${nameOf(change.member)} ${change.step} ${Math.round((100 * change.done) / change.total)} %`;
    case "round":
      return change.phase === "started"
        ? `round ${change.round}${change.total === null ? "" : ` of ${change.total}`}`
        : `round ${change.round} ended${change.isFinite === false ? "; its model holds values that are no numbers (NaN or infinite)" : ""}`;
    case "checkpoint":
      return `checkpoint of round ${change.round}`;
    case "metric":
      return `${change.site} ${change.value}`;
    case "warning":
      return change.text === null
        ? null
        : `warning of ${change.site}: ${toldWithUnits(change.text)}`;
    case "output":
      return `stored ${change.key} (${size(change.sizeBytes)})`;
    case "explained":
      return `the operator says: ${change.message}`;
    default:
      return null;
  }
}

function withReason(words: string, reason: string | null): string {
  return reason === null ? words : `${words}: ${reason}`;
}
