import { isTerminal, JOB_STATES, type JobState } from "@resontech/contracts/job-states";
import t from "tap";
import {
  JOB_MACHINE_EVENTS,
  type JobEvent,
  stepJob,
} from "../../../src/kernel/decisions/job-machine.ts";

/** The machine of the design, pair by pair; every pair that is not here is stale. */
const EXPECTED: [from: JobState, event: JobEvent, to: JobState, effects: string][] = [
  ["ACCEPTED", "enqueue", "QUEUED", "place-soon"],
  ["ACCEPTED", "hold", "HELD", ""],
  ["ACCEPTED", "reject", "REJECTED", ""],
  ["ACCEPTED", "stop", "STOPPING", "stop-members"],
  ["QUEUED", "hold", "HELD", ""],
  ["QUEUED", "place", "RESERVED", "create-attempt"],
  ["QUEUED", "stop", "STOPPING", "stop-members"],
  ["HELD", "unhold", "QUEUED", "place-soon"],
  ["HELD", "stop", "STOPPING", "stop-members"],
  ["RESERVED", "claim", "PROVISIONING", ""],
  ["RESERVED", "start", "RUNNING", ""],
  ["RESERVED", "preempt", "PREEMPTING", "stop-members"],
  ["RESERVED", "fault", "RECOVERING", "stop-members"],
  ["RESERVED", "stop", "STOPPING", "stop-members"],
  ["PROVISIONING", "stage", "STAGING", ""],
  ["PROVISIONING", "start", "RUNNING", ""],
  ["PROVISIONING", "preempt", "PREEMPTING", "stop-members"],
  ["PROVISIONING", "fault", "RECOVERING", "stop-members"],
  ["PROVISIONING", "stop", "STOPPING", "stop-members"],
  ["STAGING", "start", "RUNNING", ""],
  ["STAGING", "preempt", "PREEMPTING", "stop-members"],
  ["STAGING", "fault", "RECOVERING", "stop-members"],
  ["STAGING", "stop", "STOPPING", "stop-members"],
  ["RUNNING", "finish", "FINALIZING", "stop-others"],
  ["RUNNING", "preempt", "PREEMPTING", "commit-first"],
  ["RUNNING", "fault", "RECOVERING", "stop-members"],
  ["RUNNING", "stop", "STOPPING", "stop-members"],
  ["PREEMPTING", "finish", "FINALIZING", "stop-others"],
  ["PREEMPTING", "vacate", "QUEUED", "end-attempt place-soon"],
  ["PREEMPTING", "stop", "STOPPING", "stop-members"],
  ["RECOVERING", "requeue", "QUEUED", "end-attempt place-soon"],
  ["RECOVERING", "give-up", "FAILED", "end-attempt"],
  ["RECOVERING", "stop", "STOPPING", "stop-members"],
  ["FINALIZING", "store", "SUCCEEDED", "close-attempt"],
  ["FINALIZING", "fault", "RECOVERING", "stop-members"],
  ["FINALIZING", "stop", "STOPPING", "stop-members"],
  ["STOPPING", "stopped-cancelled", "CANCELLED", "end-attempt"],
  ["STOPPING", "stopped-failed", "FAILED", "end-attempt"],
  ["STOPPING", "stopped-expired", "EXPIRED", "end-attempt"],
];

t.test("every pair of state and event is as the design has it", async (t) => {
  for (const state of JOB_STATES) {
    for (const event of JOB_MACHINE_EVENTS) {
      const [expected] = EXPECTED.filter(([from, on]) => from === state && on === event);
      const step = stepJob(state, event);
      const found = step === null ? null : [state, event, step.to, step.effects.join(" ")];
      t.same(found, expected ?? null, `${state} on ${event}`);
    }
  }
});

t.test(
  "stop is legal in every living state but the one that it leads to, and nothing leaves a terminal one",
  async (t) => {
    for (const state of JOB_STATES) {
      if (isTerminal(state))
        t.ok(
          JOB_MACHINE_EVENTS.every((event) => stepJob(state, event) === null),
          state,
        );
      else t.equal(stepJob(state, "stop")?.to ?? "STOPPING", "STOPPING", state);
    }
  },
);

t.test("every state can be reached, and from every living one an end", async (t) => {
  const reach = (start: JobState): Set<JobState> => {
    const seen = new Set([start]);
    for (const state of seen)
      for (const event of JOB_MACHINE_EVENTS) seen.add(stepJob(state, event)?.to ?? state);
    return seen;
  };
  t.same([...reach("ACCEPTED")].toSorted(), [...JOB_STATES].toSorted());
  for (const state of JOB_STATES.filter((each) => !isTerminal(each)))
    t.ok([...reach(state)].some(isTerminal), state);
});
