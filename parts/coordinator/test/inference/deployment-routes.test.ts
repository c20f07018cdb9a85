/** Where deployments are reached, as the kernel's own rows say it: from the first word of a replica to the stop. */
import { createHash, createHmac } from "node:crypto";
import { DEPLOYMENT_KINDS } from "@resontech/contracts/http-inference";
import type { MemberEvent } from "@resontech/contracts/agent-protocol";
import t from "tap";
import { WORKLOADS } from "../../src/workloads/workloads.ts";
import { DeploymentTable } from "../../src/inference/deployment-table.ts";
import { Rollouts } from "../../src/inference/rollouts.ts";
import { Scaler } from "../../src/inference/scaler.ts";
import { drawPredictKey, PredictKeys } from "../../src/inference/predict-keys.ts";
import { JobLists } from "../../src/kernel/job-lists.ts";
import type { Deployment } from "../../src/workloads/predictor/predictor.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

const FIRST = drawPredictKey();
const spec: Deployment = {
  ...{ engine: "predictor", module: "echo", className: "Echo", initArgs: {}, modelPath: null },
  scaling: { min: 1, max: 1, targetOngoing: 3 },
  ...{
    maxOngoingRequests: 3,
    visibility: "PRIVATE",
    callbackUrl: "https://hooks.example/a",
    replaces: null,
    keySha256: FIRST.sha256,
    callbackSecret: FIRST.callbackSecret,
  },
};

t.test("a route is there while a replica answers, and follows a new key", async (t) => {
  using world = new KernelWorld();
  const { kernel, scheduler, commit } = world.parts;
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  await agent.register();
  const deployment = { kind: "predictor", spec, numRounds: null, minClients: 0, inputs: [] };
  const { id } = await kernel.submit(
    world.task("echo", { ...deployment, shardUncompressedBytes: [0] }),
  );
  const task = await kernel.submit(world.task("digits"));
  await scheduler.cycle();
  await agent.fetch();
  const table = new DeploymentTable(world.read);
  await using scaler = new Scaler({
    ...{ commit, table, replicas: world.parts.replicas, now: () => world.nowMs },
    rollouts: new Rollouts(world.read, table),
    load: () => null,
    onChange: () => undefined,
    onError: (error) => t.fail(String(error)),
  });
  const say = async (...events: MemberEvent[]) => {
    for (const event of events) agent.say(`${id}-a1-replica`, event);
    await agent.send();
  };
  await say(
    { kind: "progress", step: "inputs", done: 1 },
    { kind: "staged", bytes: 1 },
    { kind: "started", container: "c" },
  );
  t.same(table.routes(), [], "it has not said that it is ready");
  await say({ kind: "ready" });
  await scaler.look();
  t.match(kernel.job(id), { state: "RUNNING", members: [{ role: "replica", isReady: true }] });
  t.match(table.routes(), [
    {
      ...{ deployment: id, project: "project-a", keySha256: FIRST.sha256, maxOngoingRequests: 3 },
      replicas: [{ member: `${id}-a1-replica`, node: "node-a", host: "10.0.0.1", port: Number }],
    },
  ]);

  const keys = new PredictKeys(commit);
  let outcomes = 0;
  const key = await keys.replace(id, () => void (outcomes += 1));
  t.equal(table.routes()[0]?.keySha256, createHash("sha256").update(key).digest("hex"));
  t.match(table.of(id), { ...spec, keySha256: String, callbackSecret: String });
  t.same(
    table.routes()[0]?.callback,
    {
      url: "https://hooks.example/a",
      secret: createHmac("sha256", key).update("resontech callback v1").digest("hex"),
    },
    "whoever has the key derives what signs callbacks",
  );
  await t.rejects(
    keys.replace(id, () => {
      throw new Error("the outbox is full");
    }),
    { message: "the outbox is full" },
  );
  t.equal(
    table.routes()[0]?.keySha256,
    createHash("sha256").update(key).digest("hex"),
    "a change without its outcome is none",
  );
  world.crash();
  t.equal(
    new DeploymentTable(world.read).routes()[0]?.keySha256,
    createHash("sha256").update(key).digest("hex"),
    "and it outlives a crash",
  );

  const lists = new JobLists(world.read, WORKLOADS);
  const ids = (kinds: Parameters<JobLists["page"]>[1]) =>
    lists.page("all", kinds, { limit: 10 }).jobs.map((job) => job.id);
  t.same(ids({ are: DEPLOYMENT_KINDS }), [id]);
  t.same(ids({ areNot: DEPLOYMENT_KINDS }), [task.id]);
  const shown = (areNot: readonly string[]) =>
    world.parts.kernel.jobs("all", 10, 0, { areNot }).map((job) => job.id);
  t.same(shown(DEPLOYMENT_KINDS), [task.id]);
  t.same(shown([]), [task.id, id]);

  const audit = { op: crypto.randomUUID(), index: 1, leafHash: "0".repeat(64), unwitnessed: false };
  await world.parts.kernel.requestStop(id, "user_cancelled", audit);
  t.same(new DeploymentTable(world.read).routes(), [], "nobody is led to one that stops");
  t.equal(outcomes, 1);
});
