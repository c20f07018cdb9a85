/** How many replicas are asked for. */
import t from "tap";
import { type Demand, wantedReplicas } from "../../../src/inference/decisions/wanted-replicas.ts";
import { newDeployment, stepDeployment } from "../../../src/inference/decisions/deployment.ts";
import { SCALING } from "../../../src/inference/decisions/scaling-policy.ts";

const scaling = { min: 0, max: 10, targetOngoing: 4 };
const demand = (change: Partial<Demand> = {}): Demand => ({
  ...{ calls: 0, requestsPerSecond: null, deviceUse: null, ...change },
});

t.test("calls alone count where no other target is said", async (t) => {
  const busy = { requestsPerSecond: 1_000, deviceUse: 1 };
  for (const [calls, wanted] of [
    [0, 0],
    [1, 1],
    [4, 1],
    [5, 2],
  ] as const)
    t.equal(wantedReplicas(demand({ calls, ...busy }), scaling, 1), wanted, `${calls}`);
});

t.test("requests a second count beside them, and the greater wish wins", async (t) => {
  const own = { ...scaling, targetRequestsPerSecond: 10 };
  t.equal(wantedReplicas(demand({ requestsPerSecond: 35 }), own, 1), 4);
  t.equal(wantedReplicas(demand({ requestsPerSecond: 35, calls: 40 }), own, 1), 10);
  t.equal(wantedReplicas(demand({ requestsPerSecond: 0.1 }), own, 1), 1);
  t.equal(wantedReplicas(demand({ requestsPerSecond: 0 }), own, 1), 0);
  t.equal(wantedReplicas(demand({ calls: 1 }), own, 1), 1, "where nobody counted them");
});

t.test("the use of devices is kept near its target", async (t) => {
  const own = { ...scaling, targetDeviceUse: 0.5 };
  const of = (deviceUse: number | null, serving: number, change = {}) =>
    wantedReplicas(demand({ calls: 1, deviceUse, ...change }), own, serving);
  t.equal(of(1, 3), 6);
  t.equal(of(0.54, 3), 3, "within a tenth of it nothing is asked for");
  t.equal(of(0.2, 5), 2);
  t.equal(of(null, 5), 1, "where nobody measures them calls count");
  t.equal(of(0.9, 2, { calls: 0 }), 0, "a device that is busy by itself keeps nothing up");
});

t.test("a deployment grows by its requests a second though few calls are under way", async (t) => {
  const policy = { min: 1, max: 4, targetOngoing: 8, targetRequestsPerSecond: 10, sleeps: false };
  const ready = { id: "r-1", state: "READY", isLeaving: false } as const;
  const load = {
    ...{ generation: 1, queued: 0, inFlight: {}, lastCompletionAt: 0 },
    requestsPerSecond: 25,
  };
  let deployment = newDeployment(0);
  const step = (event: Parameters<typeof stepDeployment>[1]) => {
    const done = stepDeployment(deployment, event, policy);
    ({ deployment } = done);
    return done.effects;
  };
  step({ kind: "members", now: 0, due: 0, replicas: [ready] });
  t.same(step({ kind: "load", now: 0, load }), [], "not at once");
  t.same(step({ kind: "load", now: SCALING.upAfterMs, load }), [{ kind: "place", due: 2 }]);
});
