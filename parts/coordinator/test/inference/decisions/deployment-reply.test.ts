/** Which of the four words a deployment is, in each of its states. */
import { DEPLOYMENT_STATES } from "@resontech/contracts/deployment-states";
import { JOB_STATES, wireState } from "@resontech/contracts/job-states";
import t from "tap";
import {
  type Deployment,
  newDeployment,
  stepDeployment,
} from "../../../src/inference/decisions/deployment.ts";
import {
  deploymentStatus,
  servingReply,
} from "../../../src/inference/decisions/deployment-reply.ts";

t.test("once it has loaded it runs, whether or not a replica is there", async (t) => {
  const running = { state: "RUNNING", startedAt: 1 } as const;
  t.same(
    DEPLOYMENT_STATES.map((state) => `${state} ${deploymentStatus(running, state)}`),
    [
      ...["COLD RUNNING", "WAKING RUNNING", "HOT RUNNING", "SLEEPING RUNNING"],
      ...["DRAINING RUNNING", "STOPPED RUNNING", "FAILED FAILED"],
    ],
  );
});

t.test("before its first load it waits, whatever runs, and after its end it is over", async (t) => {
  for (const state of JOB_STATES)
    t.equal(
      deploymentStatus({ state, startedAt: null }, null),
      state === "RUNNING" ? "QUEUED" : wireState(state),
    );
  t.equal(deploymentStatus({ state: "CANCELLED", startedAt: 1 }, "STOPPED"), "FINISHED");
  t.equal(deploymentStatus({ state: "CANCELLED", startedAt: 1 }, "FAILED"), "FINISHED");
  t.equal(deploymentStatus({ state: "FAILED", startedAt: 1 }, "HOT"), "FAILED");
});

t.test("its replicas are counted by what they are good for", async (t) => {
  const replica = { beganAt: 0, readyAt: null, closedIn: null, isLeaving: false };
  const deployment: Deployment = {
    ...newDeployment(0),
    ...{ state: "HOT" as const, due: 1 },
    replicas: [
      { ...replica, id: "a", state: "READY" },
      { ...replica, id: "b", state: "WARMING" },
      { ...replica, id: "c", state: "DRAINING" },
    ],
  };
  t.same(servingReply(deployment), {
    ...{ state: "HOT", since: "1970-01-01T00:00:00.000Z", ready: 1, starting: 2 },
    wakeMs: null,
  });
});

t.test("who calls now is told what the last wakes from there took", async (t) => {
  const one = { beganAt: 0, readyAt: null, closedIn: null, isLeaving: false };
  const asleep: Deployment = {
    ...newDeployment(0),
    state: "SLEEPING",
    replicas: [{ ...one, id: "a", state: "SLEEPING" }],
    tierWakesMs: { asleep: [700, 900, 800], cold: [4_000] },
  };
  t.equal(servingReply(asleep).wakeMs, 800);
  const waking = { ...one, id: "a", state: "WAKING" as const, wasAsleep: true as const };
  t.equal(servingReply({ ...asleep, state: "WAKING", replicas: [waking] }).wakeMs, 800);
  t.equal(servingReply({ ...asleep, state: "COLD", replicas: [] }).wakeMs, 4_000);
  t.equal(servingReply({ ...asleep, state: "HOT" }).wakeMs, null);
  t.equal(servingReply({ ...newDeployment(0), state: "COLD" }).wakeMs, null, "nobody has seen one");
});

t.test("what callers waited counts before what wakes took, each wake once", async (t) => {
  const policy = { ...{ min: 0, max: 1, targetOngoing: 2 }, sleeps: true };
  const load = { generation: 1, queued: 0, inFlight: {}, lastCompletionAt: null };
  const one = { beganAt: 0, readyAt: null, closedIn: null, isLeaving: false };
  let deployment: Deployment = {
    ...newDeployment(0),
    state: "SLEEPING",
    replicas: [{ ...one, id: "a", state: "SLEEPING" }],
    tierWakesMs: { asleep: [300], cold: [4_000] },
  };
  const tell = (generation: number, from: "SLEEPING" | "COLD", ms: number) => {
    const said = { ...load, woken: [{ generation, from, ms }] };
    deployment = stepDeployment(
      deployment,
      { kind: "load", now: generation, load: said },
      policy,
    ).deployment;
  };
  t.equal(servingReply(deployment).wakeMs, 300, "no caller has waited yet");
  tell(7, "SLEEPING", 520);
  for (const _ of [1, 2, 3]) tell(7, "SLEEPING", 520);
  tell(9, "SLEEPING", 480);
  tell(11, "SLEEPING", 700);
  t.same(deployment.waits?.tierMs, { asleep: [520, 480, 700], cold: [] });
  t.equal(servingReply(deployment).wakeMs, 520);
  t.equal(servingReply({ ...deployment, state: "COLD", replicas: [] }).wakeMs, 4_000);
  tell(8, "COLD", 9_000);
  t.equal(
    servingReply({ ...deployment, state: "COLD", replicas: [] }).wakeMs,
    4_000,
    "an old word",
  );
  tell(12, "COLD", 5_000);
  t.equal(servingReply({ ...deployment, state: "COLD", replicas: [] }).wakeMs, 5_000);
});
