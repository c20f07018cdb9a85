/** Who brings the appliance's release now: the decision alone. */
import t from "tap";
import {
  mayBegin,
  type OrderedNode,
  type UpgradeState,
  waitsFor,
  wavesOf,
} from "../../src/nodes/decisions/upgrade-waves.ts";

const names = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`);
/** `w` waiting, `b` begun, `d` done, `f` failed; a capital: it is away. */
function ordered(states: string): OrderedNode[] {
  const meant: Record<string, UpgradeState> = { w: "waiting", b: "begun", d: "done", f: "failed" };
  return wavesOf(names(states.length)).map(({ node, wave }, place) => {
    const letter = states[place] ?? "";
    const state = meant[letter.toLowerCase()] ?? "waiting";
    return { node, wave, state, isAway: letter !== letter.toLowerCase() };
  });
}
const begins = (states: string) => [...mayBegin(ordered(states))];

t.test("the first goes alone, then a quarter at a time, at least one", async (t) => {
  const waves = (count: number) => wavesOf(names(count)).map(({ wave }) => wave);
  t.same(waves(0), []);
  t.same(waves(1), [0]);
  t.same(waves(4), [0, 1, 2, 3]);
  t.same(waves(9), [0, 1, 1, 2, 2, 3, 3, 4, 4]);
});

t.test("a wave begins once the one before is done", async (t) => {
  t.same(begins("wwwwwwwww"), ["n0"]);
  t.same(begins("bwwwwwwww"), []);
  t.same(begins("dwwwwwwww"), ["n1", "n2"]);
  t.same(begins("dbwwwwwww"), ["n2"]);
  t.same(begins("ddbwwwwww"), []);
  t.same(begins("dddwwwwww"), ["n3", "n4"]);
  t.same(begins("ddddddddd"), []);
});

t.test("one that failed stops all that have not begun", async (t) => {
  t.same(begins("dfbwwwwww"), []);
  t.equal(waitsFor(ordered("dfbwwwwww"), "n3"), "nothing, for another failed");
  t.equal(waitsFor(ordered("dfbwwwwww"), "n2"), null, "it has begun");
});

t.test("one that is away holds nobody up, and comes in when it is back", async (t) => {
  t.same(begins("Wwwww"), ["n1"]);
  t.same(begins("dWwww"), ["n2"]);
  t.equal(waitsFor(ordered("dWwww"), "n1"), "itself");
  t.equal(waitsFor(ordered("dWwww"), "n4"), "its turn");
  t.same(begins("dwdww"), ["n1"], "back, before the later waves go on");
  t.same(begins("dWddd"), []);
});

t.test("one that falls silent while it changes is waited for", async (t) => {
  t.same(begins("dBwww"), []);
});
