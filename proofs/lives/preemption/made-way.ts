/** What was seen of one job that made way, and whether that is as it must be. Pure. */
import type { Decision } from "./kernel-rows.ts";

export const LEAVING =
  /It makes way for .*\. It ends the round that runs first, and goes on later\./;
export const LEFT = /It made way for .*\. Nothing is lost but what came after round (\d+)\./;
const EXPECTED_ON_QUEUE = /\b(In \d|Now)/;

export type MadeWay = {
  /** Each time that it was told to make way. */
  decisions: readonly Decision[];
  /** Whose model was the last to be stored once it had let go. */
  lastRound: number;
  /** In which round each of its attempts began. */
  beginnings: readonly number[];
  begunTwice: readonly number[];
  retriesSpent: number;
  /** Its page while it let go, and afterwards; its row of the queue then. */
  said: { leaving: string; left: string; queue: string };
  /** By the API, while it waited. */
  expectedStart: string | null;
};

/** Once, for that job and reason; it said so; it went on right after the last round that was stored, and paid nothing. */
export function isAsItMust(
  { decisions, lastRound, beginnings, begunTwice, retriesSpent, said, expectedStart }: MadeWay,
  { asker, reason, whom }: { asker: string; reason: string; whom: string },
): boolean {
  const [only] = decisions;
  return (
    decisions.length === 1 &&
    only?.asker === asker &&
    only.reason === reason &&
    LEAVING.test(said.leaving) &&
    said.leaving.includes(`It makes way for ${whom}.`) &&
    said.left.includes(`It made way for ${whom}.`) &&
    Number(LEFT.exec(said.left)?.[1]) === lastRound &&
    EXPECTED_ON_QUEUE.test(said.queue) &&
    expectedStart !== null &&
    beginnings.length === 2 &&
    beginnings[1] === lastRound + 1 &&
    begunTwice.length === 0 &&
    retriesSpent === 0
  );
}
