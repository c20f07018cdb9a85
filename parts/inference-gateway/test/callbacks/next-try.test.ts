import t from "tap";
import { MAX_TRIES, nextTryMs } from "../../src/callbacks/next-try.ts";

t.test("waits double up to an hour, and end after most of a day", async (t) => {
  t.equal(nextTryMs(1, 1), 2_000);
  t.equal(nextTryMs(1, 0), 1_500, "what failed together is not tried again together");
  t.equal(nextTryMs(4, 1), 16_000);
  t.equal(nextTryMs(20, 1), 3_600_000);
  t.equal(nextTryMs(MAX_TRIES, 1), null);
  const waits = Array.from({ length: MAX_TRIES - 1 }, (_, at) => nextTryMs(at + 1, 1) ?? 0);
  const hours = waits.reduce((sum, ms) => sum + ms, 0) / 3_600_000;
  t.ok(hours > 18 && hours < 24, `${hours}`);
});
