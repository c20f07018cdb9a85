import type { JobHistoryReply } from "@resontech/contracts/http-jobs";
import t from "tap";
import { roundTimesOf } from "../src/pages/job/round-times.ts";

const instant = (second: number): string => new Date(second * 1000).toISOString();
const attempt = (number: number, from: number, to: number | null) => ({
  ...{ id: `at-${number}`, number, startRound: 0, createdAt: instant(from) },
  ...{ endedAt: to === null ? null : instant(to), endReason: to === null ? null : "lost" },
});
const round = (
  number: number,
  from: number,
  to: number | null,
  sites: string[],
  isFinite: boolean | null = true,
): JobHistoryReply["rounds"][number] => ({
  ...{ attempt: 1, round: number, startedAt: instant(from), isFinite, sites },
  ...{ endedAt: to === null ? null : instant(to), hasCheckpoint: false },
});

t.test("a round that an attempt's end cut short ends there", async (t) => {
  const { bars, attempts } = roundTimesOf(
    { attempts: [attempt(1, 0, 4), attempt(2, 5, null)], rounds: [round(0, 0, null, [])] },
    10_000,
    [],
  );
  t.match(bars, [{ from: 0, width: 0.4, ms: 4_000, isOver: false }]);
  t.same(attempts, [0.5]);
});

t.test(
  "a round whose attempt ends after the job ends with the picture, and not beyond it",
  async (t) => {
    const { bars } = roundTimesOf(
      { attempts: [attempt(1, 0, 12)], rounds: [round(0, 0, 8, []), round(1, 8, null, [])] },
      10_000,
      [],
    );
    t.same(
      bars.map(({ from, width }) => Math.round((from + width) * 100) / 100),
      [0.67, 1],
    );
  },
);

t.test("each site says which rounds took its update, and how many did not", async (t) => {
  const rounds = [
    round(1, 0, 10, ["site-1", "site-2"]),
    round(2, 10, 20, ["site-1"]),
    round(3, 20, null, []),
  ];
  const { sites } = roundTimesOf({ attempts: [attempt(1, 0, null)], rounds }, 30_000, [
    "site-2",
    "site-3",
  ]);
  t.same(sites, [
    { site: "site-1", took: [true, true, null], missed: 0 },
    { site: "site-2", took: [true, false, null], missed: 1 },
    { site: "site-3", took: [false, false, null], missed: 2 },
  ]);
});

t.test("of a round that has just ended nobody is said to have missed it", async (t) => {
  const rounds = [round(1, 0, 10, ["site-1"]), round(2, 10, 20, [])];
  const { sites } = roundTimesOf({ attempts: [attempt(1, 0, null)], rounds }, 30_000, ["site-1"]);
  t.same(sites, [{ site: "site-1", took: [true, null], missed: 0 }]);
});

t.test(
  "a round that lasts longer than most, or whose model holds no numbers, stands out",
  async (t) => {
    const rounds = [
      ...[round(1, 0, 10, []), round(2, 10, 20, []), round(3, 20, 30, [])],
      round(4, 30, 50, [], false),
    ];
    const { bars } = roundTimesOf({ attempts: [attempt(1, 0, null)], rounds }, 50_000, []);
    t.same(
      bars.map(({ isSlow, hasNoNumbers }) => [isSlow, hasNoNumbers]),
      [
        [false, false],
        [false, false],
        [false, false],
        [true, true],
      ],
    );
  },
);

t.test("the axis has round times, and no more than there is room for", async (t) => {
  for (const seconds of [3, 100, 5_000, 90_000, 3_000_000]) {
    const { ticks } = roundTimesOf(
      { attempts: [attempt(1, 0, null)], rounds: [round(1, 0, null, [])] },
      seconds * 1_000,
      [],
    );
    t.ok(ticks.length >= 2 && ticks.length <= 9, `${seconds} s: ${ticks.length} ticks`);
    t.equal(ticks[0]?.at, 0);
    t.ok(ticks.every(({ at }) => at <= 1));
  }
});
