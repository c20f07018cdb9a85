/** Who is led where, who waits, and who is refused by which name. */
import type { Route } from "@resontech/contracts/inference-routes";
import t from "tap";
import { Admission, type Verdict } from "../src/admission.ts";

const replica = (member: string, isOpen = true): Route["replicas"][number] => ({
  ...{ member, node: "n", host: "h", port: 1, certificateSha256: "0".repeat(64), isOpen },
});
const route = (change: Partial<Route> = {}): Route => ({
  ...{ name: "d", api: "predict", createdAt: 0 },
  ...{
    deployment: "d",
    project: "p",
    aliases: [],
    keySha256: "0".repeat(64),
    visibility: "PRIVATE",
  },
  ...{ maxOngoingRequests: 2, generation: 1, state: "HOT", wakeMs: 10_000 },
  replicas: [replica("r-1"), replica("r-2")],
  ...change,
});
const told = (verdicts: readonly Verdict<string>[]) =>
  verdicts.map((verdict) =>
    "refused" in verdict
      ? `${verdict.call} ${verdict.refused} ${verdict.retryAfterS}`
      : `${verdict.call} to ${verdict.replica.member}`,
  );

t.test("each call goes where the fewest are, and as many as replicas take", async (t) => {
  const admission = new Admission<string>(route());
  const led = ["a", "b", "c", "d", "e"].flatMap((call) => told(admission.arrive(call, 0)));
  t.same(led, ["a to r-1", "b to r-2", "c to r-1", "d to r-2"]);
  t.same(told(admission.end("r-2", 1_000)), ["e to r-2"]);
  t.match(admission.counts(1_500), { queued: 0, idleMs: 500 });
  t.same(admission.counts(1_500).inFlight, [
    { member: "r-1", calls: 2 },
    { member: "r-2", calls: 2 },
  ]);
});

t.test(
  "busy replicas are waited for half a minute, a wake for twice its time, never over a minute",
  async (t) => {
    const busy = new Admission<string>(
      route({ maxOngoingRequests: 1, replicas: [replica("r-1")] }),
    );
    busy.arrive("a", 0);
    busy.arrive("b", 0);
    t.equal(busy.nextExpiry, 30_000);
    t.same(told(busy.expire(29_999)), []);
    t.same(told(busy.expire(30_000)), ["b busy 1"]);
    for (const [wakeMs, waitMs, retryAfterS] of [
      [400, 5_000, 1],
      [10_000, 20_000, 10],
      [45_000, 60_000, 45],
      [600_000, 60_000, 60],
    ] as const) {
      const cold = new Admission<string>(route({ state: "COLD", replicas: [], wakeMs }));
      cold.arrive("a", 0);
      t.equal(cold.nextExpiry, waitMs);
      t.same(told(cold.expire(waitMs)), [`a still_waking ${retryAfterS}`]);
    }
  },
);

t.test(
  "whoever waited for a wake waits for a turn after it, and the other way round",
  async (t) => {
    const one = { maxOngoingRequests: 1, wakeMs: 10_000 };
    const asleep = route({ ...one, state: "SLEEPING", replicas: [] });
    const open = route({ ...one, replicas: [replica("r-1")] });
    const admission = new Admission<string>(asleep);
    for (const call of ["a", "b"]) admission.arrive(call, 0);
    t.same(told(admission.follow(open, 19_000)), ["a to r-1"]);
    t.same(told(admission.expire(23_999)), []);
    t.same(told(admission.follow(asleep, 23_000)), []);
    t.equal(admission.nextExpiry, 49_000);
    admission.follow(open, 42_000);
    admission.follow(asleep, 46_000);
    t.equal(admission.nextExpiry, 60_000, "a minute in all");
    t.same(told(admission.expire(60_000)), ["b still_waking 10"]);
  },
);

t.test("those that wait longest go first, and who left does not go", async (t) => {
  const admission = new Admission<string>(route({ state: "COLD", replicas: [] }));
  for (const call of ["a", "b", "c", "d"]) admission.arrive(call, 0);
  admission.withdraw("b");
  t.equal(admission.counts(0).queued, 3);
  t.same(told(admission.follow(route({ replicas: [replica("r-1")] }), 0)), [
    "a to r-1",
    "c to r-1",
  ]);
});

t.test("a closed replica is given nothing, and is opened again", async (t) => {
  const admission = new Admission<string>(route({ replicas: [replica("r-1")] }));
  admission.arrive("a", 0);
  admission.follow(
    route({ generation: 2, state: "DRAINING", replicas: [replica("r-1", false)] }),
    0,
  );
  t.same(told(admission.arrive("b", 0)), []);
  t.match(admission.counts(0), { generation: 2, queued: 1 });
  t.same(told(admission.end("r-1", 1)), []);
  t.same(told(admission.follow(route({ generation: 3, replicas: [replica("r-1")] }), 0)), [
    "b to r-1",
  ]);
});

t.test("what can't be waited for is refused at once", async (t) => {
  const admission = new Admission<string>(route({ state: "COLD", replicas: [] }));
  for (let call = 0; call < 256; call++) admission.arrive(`${call}`, 0);
  t.same(told(admission.arrive("x", 0)), ["x queue_full 10"]);
  t.equal(told(admission.follow(route({ state: "FAILED", replicas: [] }), 0)).length, 256);
  t.same(told(admission.arrive("y", 0)), ["y load_failed 60"]);
  admission.follow(route({ state: "STOPPED", replicas: [] }), 0);
  t.same(told(admission.arrive("z", 0)), ["z gone 60"]);
  const cold = new Admission<string>(route({ state: "COLD", replicas: [] }));
  cold.arrive("a", 0);
  t.same(told(cold.close("restarting")), ["a restarting 1"]);
});

t.test("of each wake the first call tells how long it waited for its answer", async (t) => {
  const asleep = (generation: number) => route({ state: "SLEEPING", generation, replicas: [] });
  const admission = new Admission<string>(asleep(3));
  t.notOk("woken" in admission.counts(0), "none was answered yet");
  for (const [call, at] of [
    ["a", 100],
    ["b", 150],
  ] as const)
    admission.arrive(call, at);
  admission.follow(route({ state: "WAKING", generation: 4, replicas: [] }), 200);
  admission.arrive("c", 250);
  const led = admission.follow(route({ generation: 5 }), 500);
  const woken = { generation: 5, from: "SLEEPING", arrivedAt: 100 } as const;
  t.match(led, [{ call: "a", woken }, { call: "b" }, { call: "c" }]);
  t.same(
    led.filter((verdict) => "woken" in verdict).map(({ call }) => call),
    ["a"],
  );
  admission.noteAnswer(woken, 580);
  t.same(admission.counts(600).woken, { generation: 5, from: "SLEEPING", ms: 480 });
  const [next] = admission.arrive("d", 700);
  t.notOk(next !== undefined && "woken" in next, "nobody was woken for it");
  for (const member of ["r-1", "r-2", "r-1", "r-2"]) admission.end(member, 750);

  admission.follow(asleep(7), 800);
  admission.arrive("e", 900);
  admission.withdraw("e");
  admission.follow(route({ state: "COLD", generation: 8, replicas: [] }), 950);
  admission.arrive("f", 1_000);
  t.match(admission.follow(route({ generation: 10 }), 5_000), [
    { call: "f", woken: { generation: 10, from: "COLD", arrivedAt: 1_000 } },
  ]);
});
