import t from "tap";
import { inOrder, nextToStart, type Waiting } from "../tests/schedule.ts";

const file = (
  name: string,
  cpuSeconds: number,
  wallSeconds: number,
  tier: Waiting["tier"] = "engines",
): Waiting => ({
  ...{ file: name, tier, cost: { cpuSeconds, wallSeconds }, isHeavy: cpuSeconds >= 15 },
  ...{ isAlone: false, leases: false },
});
const [heavy, other, third] = [file("h1", 50, 90), file("h2", 40, 80), file("h3", 30, 70)];
const [light, idle, shared] = [file("l", 1, 2), file("i", 2, 60), file("s", 3, 30, "acceptance")];
const alone: Waiting = { ...file("alone", 9, 99, "acceptance"), isAlone: true };
const unknown: Waiting = {
  ...{ file: "u", tier: "engines", cost: null, isHeavy: false, isAlone: false, leases: false },
};
const ofTier = { unit: 9, engines: 9, browser: 2, acceptance: 2 };
const room = { jobs: 5, ofTier, always: 1, processors: 1.8, keycloaks: 2 };

t.test(
  "what only decides starts first, then files of the appliance, then the longest",
  async (t) => {
    const decides = file("d", 1, 1, "unit");
    t.same(inOrder([light, alone, heavy, shared, decides, unknown]), [
      ...[decides, shared, alone, heavy, light, unknown],
    ]);
  },
);

t.test("never more than two heavy files run at once, and light ones pass them", async (t) => {
  t.equal(nextToStart([third, light], [heavy], room), third);
  t.equal(nextToStart([third, light], [heavy, other], room), light);
  t.equal(nextToStart([third], [heavy, other], { ...room, jobs: 9, processors: 9 }), null);
});

t.test("files that mostly wait run beside others until the processors are busy", async (t) => {
  t.equal(nextToStart([light, idle], [heavy, other, light], room), idle);
  t.equal(nextToStart([light], [heavy, other, light], room), null);
  t.equal(nextToStart([unknown], [heavy, other], room), unknown);
  t.equal(nextToStart([file("w", 9, 2)], [], room)?.file, "w", "alone it may keep more busy");
});

t.test("as many as always run start whatever they keep busy, and none beyond them", async (t) => {
  const [full, busy] = [file("f", 14, 14), file("b", 12, 12)];
  const tight = { ...room, processors: 1.6 };
  t.equal(nextToStart([busy], [full], tight), null);
  t.equal(nextToStart([busy], [full], { ...tight, always: 2 }), busy);
  t.equal(nextToStart([light], [full, busy], { ...tight, always: 2 }), null);
  t.equal(nextToStart([busy], [full], { ...tight, always: 2, jobs: 1 }), null);
});

t.test("no more than so many run at once", async (t) => {
  t.equal(nextToStart([idle], [heavy, unknown], { ...room, jobs: 2 }), null);
});

t.test("of a tier no more than it may run at once", async (t) => {
  const pages = ["b1", "b2", "b3"].map((name) => file(name, 1, 60, "browser"));
  t.equal(nextToStart(pages.slice(2), pages.slice(0, 2), room), null);
  t.equal(nextToStart([...pages.slice(2), idle], pages.slice(0, 2), room), idle);
});

t.test("no more ask for a Keycloak at once than the pool has", async (t) => {
  const people = ["p1", "p2", "p3"].map((name) => ({ ...file(name, 1, 60), leases: true }));
  t.equal(nextToStart(people.slice(1), people.slice(0, 1), room), people[1]);
  t.equal(nextToStart([people[2]!], people.slice(0, 2), room), null);
  t.equal(nextToStart([people[2]!, idle], people.slice(0, 2), room), idle);
});

t.test("who runs alone waits for those of its tier, and they for it", async (t) => {
  t.equal(nextToStart([alone], [shared], room), null);
  t.equal(nextToStart([alone], [light], room), alone);
  t.equal(nextToStart([shared], [alone], room), null);
  t.equal(nextToStart([shared, idle], [alone], room), idle);
});

t.test("whatever the costs, every file starts and the rules hold", async (t) => {
  for (const jobs of [1, 2, 5]) {
    const waiting = inOrder(
      Array.from({ length: 60 }, (_, at) =>
        at % 7 === 0
          ? { ...unknown, file: `f${at}` }
          : {
              ...file(`f${at}`, at, 40, at % 3 === 0 ? "acceptance" : "engines"),
              ...{ isAlone: at % 6 === 0, leases: at % 5 === 0 },
            },
      ),
    );
    const running: Waiting[] = [];
    for (let started = 0; started < 60; ) {
      const next = nextToStart(waiting, running, { ...room, jobs });
      if (next === null) running.shift();
      else {
        waiting.splice(waiting.indexOf(next), 1);
        running.push(next);
        started++;
        const heavyOnes = running.filter(({ cost }) => (cost?.cpuSeconds ?? 0) >= 15);
        if (heavyOnes.length > 2 || running.length > jobs) t.fail(`${next.file} beside too many`);
        if (running.filter(({ leases }) => leases).length > 2) t.fail("waits for a Keycloak");
        const onAppliance = running.filter(({ tier }) => tier === "acceptance");
        if (onAppliance.some(({ isAlone }) => isAlone) && onAppliance.length > 1)
          t.fail("beside alone");
      }
    }
    t.equal(waiting.length, 0);
  }
});
