/** What is told of all that a job's runner says. The job's own files have the whole; what the coordinator keeps for ever is bounded. Pure. */
import type { MemberEvent } from "@resontech/contracts/agent-protocol";

const MAX_METRICS = 100_000;
/** Far more than the rounds of any training. */
const MAX_OTHERS = 20_000;

/** Each is kept once by site and topic; a round may bring one for every site. */
const MAX_WARNINGS = 20_000;

/** How much was told of one member, and its last rounds. A record of an earlier release has no `warnings`. */
export type Told = {
  metrics: number;
  others: number;
  warnings?: number;
  startedRound: number;
  endedRound: number;
  /** How a replica stood that last told it, and since which wish. */
  standing?: string;
};

export const INITIAL_TOLD: Told = {
  metrics: 0,
  others: 0,
  warnings: 0,
  startedRound: -1,
  endedRound: -1,
};

export function chooseEvents(
  events: readonly MemberEvent[],
  before: Told,
  sites: readonly string[],
): { chosen: MemberEvent[]; told: Told } {
  const told = { ...before };
  const lastStanding = events.findLast(({ kind }) => kind === "standing");
  const chosen = events.filter((event) => {
    if (event.kind === "metric") {
      told.metrics += 1;
      return told.metrics <= MAX_METRICS;
    }
    if (event.kind === "warning") {
      told.warnings = (told.warnings ?? 0) + 1;
      return told.warnings <= MAX_WARNINGS;
    }
    if (event.kind === "standing") {
      // Of what was read at once the last: a replica stands one way. So one look tells one at most, and none is counted.
      const standing = `${event.order} ${event.standing}`;
      if (event !== lastStanding || standing === told.standing) return false;
      told.standing = standing;
      return true;
    }
    // A round starts and ends once, and each later one has a higher number.
    if (event.kind === "round-started") {
      if (event.round <= told.startedRound) return false;
      told.startedRound = event.round;
    } else if (event.kind === "round-ended") {
      if (event.round <= told.endedRound || event.sites.length > sites.length) return false;
      told.endedRound = event.round;
    }
    told.others += 1;
    return told.others <= MAX_OTHERS;
  });
  return { chosen, told };
}
