import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { compareFences, type Fence } from "@resontech/contracts/fence";
import fc from "fast-check";
import t from "tap";
import { type LocalMember, reconcile, type Step } from "../../src/decisions/reconcile.ts";
import { federationPayload } from "../helper/federation-payload.ts";

const fence = (counter: number, generation = 1): Fence => ({ generation, counter });

function desired(member: string, change: Partial<DesiredMember> = {}): DesiredMember {
  return {
    member,
    job: "job-1",
    attempt: "job-1-a1",
    fence: fence(5),
    desired: "run",
    graceMs: 30_000,
    image: "registry/jobs@sha256:0",
    resources: { cpuMillis: 1, memoryBytes: 1, pids: 1, diskBytes: 1, workers: [] },
    payload: federationPayload("job-1", { kind: "server" }),
    inputs: [],
    ...change,
  };
}

const local = (member: string, change: Partial<LocalMember> = {}): LocalMember => ({
  member,
  fence: fence(5),
  state: "run",
  pendingReports: 0,
  ...change,
});

const run = desired("m");
const stop = desired("m", { desired: "stop", stopReason: "user_cancelled", graceMs: 7 });
const commit = desired("m", {
  ...{ desired: "stop", stopReason: "preempted", stopAfter: "commit", graceMs: 9 },
});

const TABLE: [
  what: string,
  desired: DesiredMember[],
  local: LocalMember[],
  mayStart: boolean,
  steps: Step[],
][] = [
  ["nothing wanted, nothing here", [], [], true, []],
  ["wanted, not here", [run], [], true, [{ do: "start", desired: run }]],
  ["wanted, not here, lease too short", [run], [], false, []],
  ["wanted and here", [run], [local("m")], true, []],
  ["wanted and here, lease too short", [run], [local("m")], false, []],
  ["wanted, ending by itself", [run], [local("m", { state: "stop" })], true, []],
  [
    "to stop after its commit",
    [commit],
    [local("m")],
    true,
    [{ do: "commit", member: "m", reason: "preempted", graceMs: 9 }],
  ],
  ["it commits already", [commit], [local("m", { state: "commit" })], true, []],
  [
    "it commits, and is to stop now",
    [stop],
    [local("m", { state: "commit" })],
    true,
    [{ do: "stop", member: "m", reason: "user_cancelled", graceMs: 7 }],
  ],
  ["it stops already, and is to commit", [commit], [local("m", { state: "stop" })], true, []],
  ["to commit, and not here", [commit], [], true, [{ do: "clear", desired: commit }]],
  ["wanted, has ended", [run], [local("m", { state: "released" })], true, []],
  [
    "wanted under a newer fence, old one runs",
    [run],
    [local("m", { fence: fence(4) })],
    true,
    [{ do: "supersede", member: "m" }],
  ],
  [
    "a newer generation is newer, whatever the counter",
    [desired("m", { fence: fence(1, 2) })],
    [local("m", { fence: fence(9, 1) })],
    true,
    [{ do: "supersede", member: "m" }],
  ],
  [
    "wanted under a newer fence, old one has ended",
    [run],
    [local("m", { fence: fence(4), state: "released" })],
    true,
    [{ do: "forget", member: "m" }],
  ],
  [
    "an answer from the past asks for less than is here",
    [run],
    [local("m", { fence: fence(6) })],
    true,
    [],
  ],
  [
    "a stop from the past is none",
    [stop],
    [local("m", { fence: fence(6) })],
    true,
    [{ do: "stop", member: "m", reason: "user_cancelled", graceMs: 7 }],
  ],
  [
    "to stop, runs",
    [stop],
    [local("m")],
    true,
    [{ do: "stop", member: "m", reason: "user_cancelled", graceMs: 7 }],
  ],
  [
    "to stop, runs, lease too short",
    [stop],
    [local("m")],
    false,
    [{ do: "stop", member: "m", reason: "user_cancelled", graceMs: 7 }],
  ],
  ["to stop, is stopping", [stop], [local("m", { state: "stop" })], true, []],
  ["to stop, has ended", [stop], [local("m", { state: "released", pendingReports: 2 })], true, []],
  [
    "to stop under a newer fence",
    [stop],
    [local("m", { fence: fence(4) })],
    true,
    [{ do: "clear", desired: stop }],
  ],
  ["to stop, nothing held", [stop], [], true, [{ do: "clear", desired: stop }]],
  ["to stop, nothing held, lease too short", [stop], [], false, [{ do: "clear", desired: stop }]],
  ["nobody wants what runs", [], [local("m")], true, [{ do: "kill", member: "m" }]],
  [
    "nobody wants what is stopping",
    [],
    [local("m", { state: "stop" })],
    true,
    [{ do: "kill", member: "m" }],
  ],
  [
    "nobody wants what has ended and told all",
    [],
    [local("m", { state: "released" })],
    true,
    [{ do: "forget", member: "m" }],
  ],
  [
    "nobody wants what has ended and has more to tell",
    [],
    [local("m", { state: "released", pendingReports: 1 })],
    true,
    [],
  ],
];

t.test("each pair of wanted and held has its step", (t) => {
  for (const [what, wanted, held, mayStart, steps] of TABLE)
    t.strictSame(reconcile(wanted, held, mayStart), steps, what);
  t.end();
});

const anyFence = fc.record({
  generation: fc.integer({ min: 1, max: 2 }),
  counter: fc.integer({ min: 0, max: 3 }),
});
const name = fc.constantFrom("a", "b", "c");
const anyDesired = fc.uniqueArray(
  fc.tuple(name, anyFence, fc.constantFrom("run" as const, "stop" as const)),
  {
    selector: ([member]) => member,
  },
);
const anyLocal = fc.uniqueArray(
  fc.tuple(
    name,
    anyFence,
    fc.constantFrom("run" as const, "commit" as const, "stop" as const, "released" as const),
    fc.integer({ min: 0, max: 1 }),
  ),
  { selector: ([member]) => member },
);

t.test(
  "steps carried out lead to a node that is as desired, and then there is nothing to do",
  (t) => {
    fc.assert(
      fc.property(anyDesired, anyLocal, (wants, holds) => {
        const wanted = wants.map(([member, fence, kind]) =>
          desired(member, { fence, desired: kind }),
        );
        let held = holds.map(([member, fence, state, pendingReports]) =>
          local(member, { fence, state, pendingReports }),
        );
        for (let round = 0; round < 4; round += 1)
          held = carryOut(reconcile(wanted, held, true), held);
        t.strictSame(reconcile(wanted, held, true), []);
        for (const want of wanted) {
          const have = held.find(({ member }) => member === want.member);
          if (want.desired === "run") t.ok(have, "what is to run is held");
          else
            t.ok(
              have === undefined ||
                have.state === "released" ||
                compareFences(have.fence, want.fence) > 0,
            );
        }
        for (const have of held) t.ok(wanted.some(({ member }) => member === have.member));
      }),
      { numRuns: 500 },
    );
    t.end();
  },
);

/** Each step as the members would do it, given time; reports are taken at once. */
function carryOut(steps: readonly Step[], held: readonly LocalMember[]): LocalMember[] {
  const next = new Map(held.map((member) => [member.member, { ...member, pendingReports: 0 }]));
  for (const step of steps) {
    switch (step.do) {
      case "start":
        next.set(step.desired.member, local(step.desired.member, { fence: step.desired.fence }));
        break;
      case "clear":
        next.set(
          step.desired.member,
          local(step.desired.member, { fence: step.desired.fence, state: "released" }),
        );
        break;
      case "stop":
      case "commit": {
        const found = next.get(step.member);
        if (found !== undefined) found.state = "released";
        break;
      }
      case "supersede":
      case "kill":
      case "forget":
        next.delete(step.member);
    }
  }
  // What was stopping has stopped by now, and so has what committed first.
  for (const member of next.values())
    if (member.state === "stop" || member.state === "commit") member.state = "released";
  return [...next.values()];
}
