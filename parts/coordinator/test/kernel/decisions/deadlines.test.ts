import { isTerminal, JOB_STATES, MEMBER_STATES } from "@resontech/contracts/job-states";
import t from "tap";
import {
  jobDeadline,
  jobLapse,
  memberDeadline,
  memberLapse,
  transferLimitMs,
} from "../../../src/kernel/decisions/deadlines.ts";

const HOUR = 3_600_000;
const facts = { now: 50_000, stateSince: 10_000, bytes: 1_000, expiresAt: null };

t.test("each state of a job has the design's deadline", async (t) => {
  const deadlines = Object.fromEntries(
    JOB_STATES.map((state) => [state, jobDeadline(state, facts)]),
  );
  t.same(deadlines, {
    ...{ ACCEPTED: null, QUEUED: null, HELD: null, RUNNING: null },
    ...{ RESERVED: 40_000, PROVISIONING: 170_000, STAGING: 170_000, FINALIZING: 170_000 },
    ...{ PREEMPTING: 130_000, RECOVERING: 130_000, STOPPING: 70_000 },
    ...{ SUCCEEDED: null, FAILED: null, CANCELLED: null, EXPIRED: null, REJECTED: null },
  });
  for (const state of ["QUEUED", "HELD", "RUNNING"] as const)
    t.equal(
      jobDeadline(state, { ...facts, expiresAt: 99 }),
      99,
      `${state} ends when the job says so`,
    );
  t.equal(jobDeadline("PREEMPTING", { ...facts, expiresAt: 99 }), 99, "to commit is its own time");
});

t.test("progress moves a transfer's deadline, but not past its whole time", async (t) => {
  t.equal(jobDeadline("STAGING", { ...facts, now: 10_000 + HOUR - 1_000 }), 10_000 + HOUR);
  t.equal(transferLimitMs(0), HOUR);
  t.equal(transferLimitMs(20_000_000 * 7_200), 2 * HOUR);
});

t.test("a passed deadline means what the design says, and terminal states have none", async (t) => {
  t.same(Object.fromEntries(JOB_STATES.map((state) => [state, jobLapse(state)])), {
    ...{
      ACCEPTED: { kind: "stop", reason: "expired" },
      QUEUED: { kind: "stop", reason: "expired" },
    },
    ...{ HELD: { kind: "stop", reason: "expired" }, RUNNING: { kind: "stop", reason: "expired" } },
    ...{ RESERVED: { kind: "fault", reason: "provisioning_timeout" } },
    ...{ PROVISIONING: { kind: "fault", reason: "provisioning_timeout" } },
    ...{
      STAGING: { kind: "fault", reason: "staging_timeout" },
      FINALIZING: { kind: "stop", reason: "output_missing" },
    },
    ...{ PREEMPTING: { kind: "end" }, RECOVERING: { kind: "end" }, STOPPING: { kind: "end" } },
    ...{ SUCCEEDED: null, FAILED: null, CANCELLED: null, EXPIRED: null, REJECTED: null },
  });
  for (const state of JOB_STATES) t.equal(jobLapse(state) === null, isTerminal(state), state);
  t.same(jobLapse("PREEMPTING", true), { kind: "stop", reason: "expired" });
});

t.test(
  "a member is given up only after its job's grace, and a dead node is not asked for proof",
  async (t) => {
    const running = {
      now: 50_000,
      stateSince: 10_000,
      bytes: 0,
      desired: "run",
      isNodeAlive: true,
      isReplacement: false,
      isWarming: false,
    } as const;
    t.same(
      Object.fromEntries(MEMBER_STATES.map((state) => [state, memberDeadline(state, running)])),
      {
        ...{
          LEASED: null,
          STARTING: null,
          RUNNING: null,
          DRAINING: 170_000,
          RELEASING: 170_000,
          FENCED: 170_000,
        },
        ...{ LOST: null, RELEASED: null, QUARANTINED: null },
      },
    );
    t.equal(memberDeadline("RUNNING", { ...running, desired: "stop" }), 110_000);
    t.equal(memberDeadline("FENCED", { ...running, isNodeAlive: false }), null);
    t.same(Object.fromEntries(MEMBER_STATES.map((state) => [state, memberLapse(state)])), {
      ...{
        LEASED: "lose",
        STARTING: "lose",
        RUNNING: "lose",
        DRAINING: "lose",
        RELEASING: "quarantine",
        FENCED: "quarantine",
      },
      ...{ LOST: null, RELEASED: null, QUARANTINED: null },
    });
  },
);
