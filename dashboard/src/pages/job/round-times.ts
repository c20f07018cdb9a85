/** Rounds and who took part in them, over time: all places are shares of the whole, from 0 to 1. Pure. */
import type { JobHistoryReply } from "@resontech/contracts/http-jobs";

export type RoundBar = {
  attempt: number;
  round: number;
  from: number;
  width: number;
  ms: number;
  isOver: boolean;
  /** Longer than half as much again as most. */
  isSlow: boolean;
  hasNoNumbers: boolean;
};
export type SiteRow = {
  site: string;
  /** For each bar: whether the round took the site's update; null while it is not over. */
  took: (boolean | null)[];
  missed: number;
};
export type Tick = { at: number; ms: number };
export type RoundTimes = {
  bars: RoundBar[];
  sites: SiteRow[];
  ticks: Tick[];
  /** Where attempts after the first began. */
  attempts: number[];
};

const SLOW = 1.5;
const MOST_TICKS = 8;
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const STEPS = [
  ...[SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE],
  ...[15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY],
];

/** @param end Unix milliseconds: now, or when the job ended @param members sites that take part */
export function roundTimesOf(
  { rounds, attempts }: Pick<JobHistoryReply, "rounds" | "attempts">,
  end: number,
  members: readonly string[],
): RoundTimes {
  const begun = rounds
    .filter(({ startedAt }) => startedAt !== null)
    .toSorted((a, b) => a.attempt - b.attempt || a.round - b.round);
  const first = Math.min(...begun.map(({ startedAt }) => Date.parse(startedAt!)));
  const endOf = ({ attempt, endedAt }: (typeof begun)[number]): number => {
    const over = attempts.find(({ number }) => number === attempt)?.endedAt;
    const told = endedAt ?? over;
    return told === null || told === undefined ? end : Date.parse(told);
  };
  // Members let go after their job has ended, and their attempt ends with them.
  const last = Math.max(end, ...begun.map(endOf));
  const whole = Math.max(1, last - first);
  const lengths = begun
    .filter(({ endedAt }) => endedAt !== null)
    .map(({ startedAt, endedAt }) => Date.parse(endedAt!) - Date.parse(startedAt!));
  const usual = lengths.toSorted((a, b) => a - b)[Math.floor(lengths.length / 2)] ?? 0;
  const bars = begun.map((one) => {
    const { attempt, round, startedAt, endedAt, isFinite } = one;
    const from = Date.parse(startedAt!);
    const ms = endOf(one) - from;
    return {
      ...{ attempt, round, ms, isOver: endedAt !== null, hasNoNumbers: isFinite === false },
      ...{ from: (from - first) / whole, width: ms / whole },
      isSlow: lengths.length > 2 && ms > usual * SLOW,
    };
  });
  const names = [...new Set([...members, ...begun.flatMap(({ sites }) => sites)])].toSorted();
  const sites = names.map((site) => {
    // No round ends without an update: of one that was told live, which sites' it took is read a moment later.
    const took = begun.map(({ endedAt, sites: known }) =>
      endedAt === null || known.length === 0 ? null : known.includes(site),
    );
    return { site, took, missed: took.filter((one) => one === false).length };
  });
  return {
    ...{ bars, sites, ticks: ticksOf(whole) },
    attempts: attempts.slice(1).map(({ createdAt }) => (Date.parse(createdAt) - first) / whole),
  };
}

/** Round times from the beginning, no more than there is room for. */
function ticksOf(whole: number): Tick[] {
  const step = STEPS.find((one) => whole / one <= MOST_TICKS) ?? whole;
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, at) => ({
    ...{ at: (at * step) / whole, ms: at * step },
  }));
}
