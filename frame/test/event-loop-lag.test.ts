import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { EventLoopLag } from "../src/event-loop-lag.ts";

t.test("tells the longest turn of the last windows, and forgets it after two", async (t) => {
  using lag = new EventLoopLag(2_000);
  await sleep(50);
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  await sleep(50);
  t.ok(lag.maxMs >= 900, `${lag.maxMs} ms of about 1000`);
  while (lag.maxMs >= 900) await sleep(100);
  t.pass("forgotten once nothing holds it up");
});
