import t from "tap";
import { mayActOnClock } from "../../src/decisions/clock-trust.ts";

t.test(
  "what can't be undone is done by a clock that somebody vouches for and nobody has just set",
  async (t) => {
    const hour = 3_600_000;
    for (const [isVouched, isSynced, stepMs, sinceStepMs, may, why] of [
      [false, false, 0, Infinity, false, "nobody vouches for it"],
      [false, true, 0, Infinity, true, "it is synchronized"],
      [true, false, 0, Infinity, true, "an officer said so"],
      [false, true, 2 * 365 * 24 * hour, Infinity, false, "it is two years ahead at this look"],
      [true, true, -2 * hour, Infinity, false, "it was set back since"],
      [false, true, 0, hour - 1, false, "it was set within the hour"],
      [false, true, 0, hour, true, "synchronization has had its time"],
      [true, false, 0, 5, true, "an officer said so after it was set"],
      [true, false, 900, Infinity, true, "no step"],
    ] as const)
      t.equal(mayActOnClock({ isVouched, isSynced, stepMs, sinceStepMs }), may, why);
  },
);
