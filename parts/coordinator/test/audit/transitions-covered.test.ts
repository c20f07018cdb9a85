/** Every pair of the two machine tables, walked on the real kernel and its database: each leaves its record in the same transaction. */
import { JOB_STATE_EVENT } from "@resontech/contracts/audit-catalogue";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import {
  JOB_STATES,
  type JobState,
  MEMBER_STATES,
  type MemberState,
} from "@resontech/contracts/job-states";
import t from "tap";
import { JOB_MACHINE, type JobEvent } from "../../src/kernel/decisions/job-machine.ts";
import {
  MEMBER_MACHINE,
  type MemberMachineEvent,
} from "../../src/kernel/decisions/member-machine.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

const world = new KernelWorld();
t.teardown(() => world[Symbol.dispose]());
const { commit, transitions, kernel, scheduler } = world.parts;
world.admit("node-a");
await new SimAgent(world, "node-a", 2).register();
const { id } = await kernel.submit(world.task("walked"));
await scheduler.cycle();
const member = world.one<string>(
  "SELECT id FROM members WHERE job_id = ? AND role = 'client' LIMIT 1",
  id,
);

/** Records that a step wrote. */
async function recordsOf(step: () => void): Promise<AuditEvent[]> {
  await commit.run((db) => db.prepare("DELETE FROM audit_outbox").run());
  await commit.run(step);
  return world
    .all<{ event: string }>("SELECT event FROM audit_outbox ORDER BY pseq")
    .map((row) => JSON.parse(row.event));
}

t.test("each arrival of a job in a state is a record of that state's own type", async (t) => {
  for (const from of JOB_STATES)
    for (const [event, { to }] of Object.entries(JOB_MACHINE[from])) {
      const leaves = await recordsOf(() => {
        world.parts.db
          .prepare("UPDATE jobs SET state = ?, ended_at = NULL WHERE id = ?")
          .run(from satisfies JobState, id);
        t.ok(transitions.moveJob(id, event as JobEvent), `${from} ${event}`);
      });
      const found = leaves.filter(({ type }) => type === JOB_STATE_EVENT[to]);
      t.match(
        found,
        [{ object: { kind: "job", id }, detail: { from, to } }],
        `${from} ${event} leaves ${JOB_STATE_EVENT[to]}`,
      );
    }
  const arrivals = new Set(
    JOB_STATES.flatMap((from) => Object.values(JOB_MACHINE[from]).map(({ to }) => to)),
  );
  t.same(
    [...arrivals, "ACCEPTED"].toSorted(),
    [...JOB_STATES].toSorted(),
    "no state is reached in any other way",
  );
});

t.test("each step of a member is a record", async (t) => {
  for (const from of MEMBER_STATES)
    for (const [event, { to }] of Object.entries(MEMBER_MACHINE[from])) {
      const leaves = await recordsOf(() => {
        world.parts.db
          .prepare("UPDATE members SET state = ? WHERE id = ?")
          .run(from satisfies MemberState, member);
        t.ok(transitions.moveMember(member, event as MemberMachineEvent), `${from} ${event}`);
      });
      const found = leaves.filter(
        ({ type, object }) => type === "job.member" && object.id === member,
      );
      t.match(found, [{ detail: { from, to, job: id } }], `${from} ${event}`);
    }
});

t.test("a state without a record of its own does not pass", async (t) => {
  const recorded: Record<string, string> = JOB_STATE_EVENT;
  const unrecorded = (states: readonly string[]) =>
    states.filter((state) => recorded[state] === undefined);
  t.same(unrecorded(JOB_STATES), []);
  t.same(unrecorded([...JOB_STATES, "DUMMY"]), ["DUMMY"]);
});
