import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { runInSlices } from "../../src/kernel/run-in-slices.ts";

/** @param ms that each of twelve steps takes @returns how many turns others had had at the end of each */
async function turnsAtSteps(ms: number): Promise<number[]> {
  let [turns, now] = [0, 0];
  const over = new AbortController();
  const others = (async () => {
    for (; !over.signal.aborted; turns += 1) await turn();
  })();
  function* steps(): Generator<void, number[]> {
    const seen: number[] = [];
    for (let step = 0; step < 12; step += 1) {
      now += ms;
      seen.push(turns);
      yield;
    }
    return seen;
  }
  const seen = await runInSlices(steps(), () => now);
  over.abort();
  await others;
  return seen;
}

t.test("after a step that takes longer than a slice the others have their turn", async (t) => {
  t.equal(new Set(await turnsAtSteps(11)).size, 12, "no two long steps in one stretch");
  t.equal(new Set(await turnsAtSteps(0.1)).size, 1, "short ones are one stretch");
});
