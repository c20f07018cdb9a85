import t from "tap";
import { inOrder, nextToStart, type Waiting } from "../tests/schedule.ts";

const file = (name: string, cpuSeconds: number | null, isAlone = false): Waiting => ({
  ...{ file: name, cpuSeconds, isAlone },
});
const [heavy, other, third] = [file("h1", 50), file("h2", 40), file("h3", 30)];
const [light, unknown, alone] = [file("l", 1), file("u", null), file("alone", 90, true)];

t.test("the dearest starts first, what runs alone comes last", async (t) => {
  t.same(inOrder([light, alone, heavy, unknown]), [heavy, light, unknown, alone]);
});

t.test("never more than two heavy files run at once, and light ones pass them", async (t) => {
  t.equal(nextToStart([third, light], [heavy], 3), third);
  t.equal(nextToStart([third, light], [heavy, other], 3), light);
  t.equal(nextToStart([third], [heavy, other], 3), null);
});

t.test("no more than so many run at once", async (t) => {
  t.equal(nextToStart([light], [heavy, unknown], 2), null);
});

t.test("who runs alone waits for all others, and all others for it", async (t) => {
  t.equal(nextToStart([alone], [light], 3), null);
  t.equal(nextToStart([alone], [], 3), alone);
  t.equal(nextToStart([light], [alone], 3), null);
});

t.test("whatever the costs, every file starts and the rule of two holds", async (t) => {
  for (const jobs of [1, 2, 3, 4]) {
    const waiting = inOrder(
      Array.from({ length: 60 }, (_, at) =>
        file(`f${at}`, at % 7 === 0 ? null : at, at % 20 === 0),
      ),
    );
    const running: Waiting[] = [];
    for (let started = 0; started < 60; ) {
      const next = nextToStart(waiting, running, jobs);
      if (next === null) running.shift();
      else {
        waiting.splice(waiting.indexOf(next), 1);
        running.push(next);
        started++;
        const heavyOnes = running.filter(({ cpuSeconds }) => (cpuSeconds ?? 0) >= 15);
        if (heavyOnes.length > 2 || running.length > jobs) t.fail(`${next.file} beside too many`);
        if (running.some(({ isAlone }) => isAlone) && running.length > 1) t.fail("beside alone");
      }
    }
    t.equal(waiting.length, 0);
  }
});
