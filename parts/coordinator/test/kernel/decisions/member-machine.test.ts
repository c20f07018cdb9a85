import { MEMBER_STATES, type MemberState } from "@resontech/contracts/job-states";
import t from "tap";
import {
  isMemberOver,
  isMemberWorking,
  mayMemberWrite,
  MEMBER_MACHINE_EVENTS,
  type MemberMachineEvent,
  stepMember,
} from "../../../src/kernel/decisions/member-machine.ts";

const HOLDING: MemberState[] = ["LEASED", "STARTING", "RUNNING", "DRAINING", "RELEASING"];

const EXPECTED: [from: MemberState, event: MemberMachineEvent, to: MemberState, effects: string][] =
  [
    ["LEASED", "claim", "STARTING", "begin-use"],
    ["STARTING", "run", "RUNNING", ""],
    ["STARTING", "drain", "DRAINING", ""],
    ["RUNNING", "drain", "DRAINING", ""],
    ["STARTING", "upload", "RELEASING", "end-use"],
    ["RUNNING", "upload", "RELEASING", "end-use"],
    ["DRAINING", "upload", "RELEASING", "end-use"],
    ...HOLDING.flatMap((state): typeof EXPECTED => [
      [state, "lose", "LOST", "end-use"],
      [state, "release", "RELEASED", "end-use free-worker"],
      [state, "quarantine", "QUARANTINED", "end-use quarantine-worker"],
    ]),
    ["LOST", "fence", "FENCED", "revoke-fence"],
    ["FENCED", "release", "RELEASED", "end-use free-worker"],
    ["FENCED", "quarantine", "QUARANTINED", "end-use quarantine-worker"],
  ];

t.test("every pair of state and event is as the design has it", async (t) => {
  for (const state of MEMBER_STATES) {
    for (const event of MEMBER_MACHINE_EVENTS) {
      const [expected] = EXPECTED.filter(([from, on]) => from === state && on === event);
      const step = stepMember(state, event);
      const found = step === null ? null : [state, event, step.to, step.effects.join(" ")];
      t.same(found, expected ?? null, `${state} on ${event}`);
    }
  }
});

t.test("a member lets its worker go only where its machine ends", async (t) => {
  t.same(MEMBER_STATES.filter(isMemberOver), ["RELEASED", "QUARANTINED"]);
  for (const state of MEMBER_STATES)
    for (const event of MEMBER_MACHINE_EVENTS) {
      const step = stepMember(state, event);
      if (step === null) continue;
      const frees =
        step.effects.includes("free-worker") || step.effects.includes("quarantine-worker");
      t.equal(frees, isMemberOver(step.to), `${state} on ${event}`);
    }
});

t.test("authority to write and work end with the state", async (t) => {
  t.same(MEMBER_STATES.filter(mayMemberWrite), ["LEASED", "STARTING", "RUNNING", "DRAINING"]);
  t.same(MEMBER_STATES.filter(isMemberWorking), ["LEASED", "STARTING", "RUNNING"]);
});
