import t from "tap";
import { OneAtATime } from "../develop/one-at-a-time.ts";

/** Work that the test ends by hand. */
function byHand() {
  const ends: (() => void)[] = [];
  return { ends, work: () => new Promise<void>((resolve) => ends.push(resolve)) };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test("changes during a restart lead to one more restart, whatever their number", async (t) => {
  const { ends, work } = byHand();
  const turns = new OneAtATime(work);
  void turns.ask();
  void turns.ask();
  void turns.ask();
  t.equal(ends.length, 1, "never twice at once");
  ends[0]!();
  await turn();
  t.equal(ends.length, 2);
  ends[1]!();
  await turn();
  t.equal(ends.length, 2);
  void turns.ask();
  t.equal(ends.length, 3, "asked again, it begins again");
  ends[2]!();
});

t.test("an end waits for the restart that is under way, and begins none", async (t) => {
  const { ends, work } = byHand();
  const turns = new OneAtATime(work);
  void turns.ask();
  void turns.ask();
  let isSettled = false;
  const settled = turns.end().then(() => {
    isSettled = true;
  });
  await turn();
  t.equal(isSettled, false);
  ends[0]!();
  await settled;
  void turns.ask();
  t.equal(ends.length, 1, "a late change begins nothing either");
});

t.test("whoever asks can wait until it is done", async (t) => {
  const { ends, work } = byHand();
  let isDone = false;
  const asked = new OneAtATime(work).ask().then(() => {
    isDone = true;
  });
  await turn();
  t.equal(isDone, false);
  ends[0]!();
  await asked;
  t.equal(isDone, true);
});
