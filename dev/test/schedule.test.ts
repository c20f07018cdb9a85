import t from "tap";
import { inOrder, nextToStart, type Waiting } from "../tests/schedule.ts";

const file = (name: string, cpuSeconds: number, wallSeconds: number, isAlone = false): Waiting => ({
  ...{ file: name, cost: { cpuSeconds, wallSeconds }, isAlone },
});
const [heavy, other, third] = [file("h1", 50, 90), file("h2", 40, 80), file("h3", 30, 70)];
const [light, idle, alone] = [file("l", 1, 2), file("i", 2, 60), file("alone", 90, 99, true)];
const unknown: Waiting = { file: "u", cost: null, isAlone: false };
const room = { jobs: 5, processors: 1.8 };

t.test("the longest starts first, what runs alone comes last", async (t) => {
  t.same(inOrder([light, alone, heavy, unknown]), [heavy, light, unknown, alone]);
});

t.test("never more than two heavy files run at once, and light ones pass them", async (t) => {
  t.equal(nextToStart([third, light], [heavy], room), third);
  t.equal(nextToStart([third, light], [heavy, other], room), light);
  t.equal(nextToStart([third], [heavy, other], { jobs: 9, processors: 9 }), null);
});

t.test("files that mostly wait run beside others until the processors are busy", async (t) => {
  t.equal(nextToStart([light, idle], [heavy, other, light], room), idle);
  t.equal(nextToStart([light], [heavy, other, light], room), null);
  t.equal(nextToStart([unknown], [heavy, other], room), unknown);
  t.equal(nextToStart([file("w", 9, 2)], [], room)?.file, "w", "alone it may keep more busy");
});

t.test("no more than so many run at once", async (t) => {
  t.equal(nextToStart([idle], [heavy, unknown], { ...room, jobs: 2 }), null);
});

t.test("who runs alone waits for all others, and all others for it", async (t) => {
  t.equal(nextToStart([alone], [light], room), null);
  t.equal(nextToStart([alone], [], room), alone);
  t.equal(nextToStart([light], [alone], room), null);
});

t.test("whatever the costs, every file starts and the rules hold", async (t) => {
  for (const jobs of [1, 2, 5]) {
    const waiting = inOrder(
      Array.from({ length: 60 }, (_, at) =>
        at % 7 === 0 ? { ...unknown, file: `f${at}` } : file(`f${at}`, at, 40, at % 20 === 0),
      ),
    );
    const running: Waiting[] = [];
    for (let started = 0; started < 60; ) {
      const next = nextToStart(waiting, running, { jobs, processors: 1.8 });
      if (next === null) running.shift();
      else {
        waiting.splice(waiting.indexOf(next), 1);
        running.push(next);
        started++;
        const heavyOnes = running.filter(({ cost }) => (cost?.cpuSeconds ?? 0) >= 15);
        if (heavyOnes.length > 2 || running.length > jobs) t.fail(`${next.file} beside too many`);
        if (running.some(({ isAlone }) => isAlone) && running.length > 1) t.fail("beside alone");
      }
    }
    t.equal(waiting.length, 0);
  }
});
