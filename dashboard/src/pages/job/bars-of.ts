/** Rounds as bars on an axis of 1,000 units. Pure. */
import type { JobHistoryReply } from "@resontech/contracts/http-jobs";

export type Bar = {
  attempt: number;
  round: number;
  from: number;
  width: number;
  ms: number;
  isOver: boolean;
};

const UNITS = 1000;

/** @param end Unix milliseconds: now, or when the job ended @returns bars in order, and where attempts after the first began */
export function barsOf(
  { rounds, attempts }: Pick<JobHistoryReply, "rounds" | "attempts">,
  end: number,
): { bars: Bar[]; attempts: number[] } {
  const begun = rounds.filter(({ startedAt }) => startedAt !== null);
  const first = Math.min(...begun.map(({ startedAt }) => Date.parse(startedAt!)));
  const scale = UNITS / Math.max(1, end - first);
  const bars = begun
    .map(({ attempt, round, startedAt, endedAt }) => {
      const from = Date.parse(startedAt!);
      const over = attempts.find(({ number }) => number === attempt)?.endedAt ?? null;
      const to = Date.parse(endedAt ?? over ?? new Date(end).toISOString());
      return {
        ...{ attempt, round, isOver: endedAt !== null, ms: to - from },
        ...{ from: (from - first) * scale, width: (to - from) * scale },
      };
    })
    .sort((a, b) => a.attempt - b.attempt || a.round - b.round);
  return {
    bars,
    attempts: attempts.slice(1).map(({ createdAt }) => (Date.parse(createdAt) - first) * scale),
  };
}
