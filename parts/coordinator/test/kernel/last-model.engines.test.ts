/** Whatever ends a training, its newest committed model stays: by the name that a success has, with its round. */
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import type { JobState } from "@resontech/contracts/job-states";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { commitRound } from "./commit-round.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";

const fixture = await CoreFixture.start();
t.teardown(() => fixture.close());
const agent = await fixture.agent("node-a", 2);
const { store } = fixture.s3;
const FOLDER = "model_out/checkpoint.pt";

/** A job that runs, with so many rounds committed. */
async function running(slug: string, rounds: number, change: { resumable?: boolean } = {}) {
  const { id } = await fixture.submit(slug, { numRounds: 9, ...change });
  const members = await agent.desiredOf(id, 3);
  await agent.bringUp(members);
  const server = members[0]!;
  await agent.report(server, { kind: "job-started", nvflareJob: "nv" });
  for (let round = 0; round < rounds; round++) {
    await agent.report(server, { kind: "round-started", round, numRounds: 9 });
    await agent.report(server, { kind: "round-ended", round, sites: ["site-1"] });
    await commitRound(agent, server, round, `${slug}, round ${round}`);
  }
  const gone = async (): Promise<void> => {
    for (const member of members) await agent.report(member, CLEAN);
  };
  return { id, server, members, gone };
}

async function expire(id: string): Promise<void> {
  await fixture.core.commit.run((db) =>
    db.prepare("UPDATE jobs SET expires_at = 1, deadline_at = 1 WHERE id = ?").run(id),
  );
}

async function fail(server: DesiredMember, reason: "user_exception" | "federation_failed") {
  await agent.report(server, { kind: "failed", reason, message: "it broke" });
}

/** How a job ends → what is told of its model. Its folder is named for the end. */
const ENDS: {
  slug: string;
  state: JobState;
  rounds: number;
  isResumable?: boolean;
  end: (job: Awaited<ReturnType<typeof running>>) => Promise<void>;
}[] = [
  {
    ...{ slug: "cancelled", state: "CANCELLED", rounds: 3 },
    end: async ({ id, gone }) => {
      await fixture.cancel(id);
      await gone();
    },
  },
  {
    ...{ slug: "time-is-up", state: "EXPIRED", rounds: 2 },
    end: async ({ id, gone }) => {
      await expire(id);
      await fixture.until(id, "STOPPING");
      await gone();
    },
  },
  {
    ...{ slug: "its-own-failure", state: "FAILED", rounds: 2 },
    end: async ({ server, gone }) => {
      await fail(server, "user_exception");
      await gone();
    },
  },
  {
    ...{ slug: "lost-then-cancelled", state: "CANCELLED", rounds: 2, isResumable: true },
    // The next attempt ran the last round again, and its model, which is no number, was not committed.
    end: async ({ id, server, gone }) => {
      await fail(server, "federation_failed");
      await fixture.until(id, "RECOVERING");
      await gone();
      const again = await agent.desiredOf(id, 3);
      await agent.bringUp(again);
      await agent.report(again[0]!, { kind: "job-started", nvflareJob: "nv" });
      await agent.report(again[0]!, { kind: "round-started", round: 1, numRounds: 9 });
      await agent.report(again[0]!, { kind: "round-ended", round: 1, sites: [], isFinite: false });
      await fixture.cancel(id);
      for (const member of again) await agent.report(member, CLEAN);
    },
  },
];

for (const { slug, state, rounds, isResumable = false, end } of ENDS)
  t.test(`the last model stays of a job that ends ${state}: ${slug}`, async (t) => {
    const job = await running(slug, rounds, { resumable: isResumable });
    await end(job);
    await fixture.until(job.id, state);
    const key = `jobs/${slug}/${FOLDER}`;
    const model = await eventually(() => fixture.job(job.id).model, "its model is told");
    t.same(model, { key, round: rounds - 1, isFinal: false, isFinite: null });
    t.equal(await contentOf(key), `${slug}, round ${rounds - 1}`);
    t.match(fixture.core.kernel.outputs(job.id), [{ key }]);
    await noCheckpointOf(t, job.id);
  });

t.test("where no round was committed, nothing is told to stay", async (t) => {
  const job = await running("too-early", 0);
  await fixture.cancel(job.id);
  await job.gone();
  t.equal((await fixture.until(job.id, "CANCELLED")).model, null);
  t.same(fixture.core.kernel.outputs(job.id), []);
});

t.test("the model of the end itself is not replaced by an older one", async (t) => {
  const job = await running("cancelled-at-its-end", 2);
  await agent.report(job.server, { kind: "finished" });
  await fixture.until(job.id, "FINALIZING");
  await agent.upload(job.server, FOLDER, "the final model");
  await fixture.cancel(job.id);
  await job.gone();
  await fixture.until(job.id, "CANCELLED");
  t.match(fixture.job(job.id).model, { round: 1, isFinal: true });
  t.equal(await contentOf(`jobs/cancelled-at-its-end/${FOLDER}`), "the final model");
  await noCheckpointOf(t, job.id);
});

t.test("it is never laid beside the outputs of a later job of that folder", async (t) => {
  const job = await running("used-again", 1);
  store.copyPart = () => Promise.reject(new Error("the engine is away"));
  await fixture.cancel(job.id);
  await job.gone();
  await fixture.until(job.id, "CANCELLED");
  await eventually(() => fixture.errors.find((error) => error.includes("engine is away")), "tried");
  const second = await running("used-again", 0);
  Reflect.deleteProperty(store, "copyPart");
  await noCheckpointOf(t, job.id);
  t.equal(await store.stat("bucket-a", `jobs/used-again/${FOLDER}`), null);
  t.equal(fixture.job(job.id).model, null);
  await fixture.cancel(second.id);
  await second.gone();
  await fixture.until(second.id, "CANCELLED");
});

t.test("a copy that was broken off is made again, once", async (t) => {
  const job = await running("broken-off", 1);
  fixture.volume.durable = () => Promise.reject(new Error("killed after the copy"));
  await fixture.cancel(job.id);
  await job.gone();
  await fixture.until(job.id, "CANCELLED");
  await eventually(() => fixture.errors.find((error) => error.includes("killed after")), "tried");
  // The class's own again.
  Reflect.deleteProperty(fixture.volume, "durable");
  const key = `jobs/broken-off/${FOLDER}`;
  await eventually(() => fixture.job(job.id).model, "its model is told");
  const versions = [];
  for await (const page of store.versions("bucket-a")) versions.push(...page);
  t.equal(versions.filter((version) => version.key === key).length, 1);
});

t.test("outputs that are removed take it along", async (t) => {
  const job = await running("removed", 1);
  await fixture.cancel(job.id);
  await job.gone();
  await eventually(() => fixture.job(job.id).model, "its model is told");
  t.equal(await fixture.core.kernel.forgetOutputs(job.id), 1);
  t.equal(fixture.job(job.id).model, null);
});

t.test("each stands in the log as the coordinator's own output, with its digest", async (t) => {
  const own = async (type: "model.output" | "model.output.open") =>
    (await readLeaves(fixture.auditd.logDir)).filter(
      (leaf) => leaf.type === type && leaf.actor.kind !== "node",
    );
  const outputs = async () =>
    (await own("model.output")).filter(({ digests }) => digests !== undefined);
  await eventually(
    async () => ((await outputs()).length >= ENDS.length ? true : null),
    "all on record",
  );
  t.ok((await outputs()).every(({ digests }) => digests !== undefined && "model" in digests));
  // The verifier compares both with what the S3 door saw: an upload that nobody announced is somebody else's.
  const opened = (await own("model.output.open")).map(({ detail }) => detail?.["upload_sha256"]);
  // A copy that a broken try had made is found, and has no upload of its own.
  const stored = (await outputs()).flatMap(({ detail }) => detail?.["upload_sha256"] ?? []);
  t.ok(stored.length >= ENDS.length);
  for (const upload of stored) t.ok(opened.includes(upload));
});

async function contentOf(key: string): Promise<string> {
  const found = await store.stat("bucket-a", key);
  if (found === null) return "";
  const { versionId, sizeBytes } = found;
  return (
    await store.getRange({ bucket: "bucket-a", key, versionId }, 0, sizeBytes - 1)
  ).toString();
}

async function noCheckpointOf(t: Test, id: string): Promise<void> {
  await eventually(
    async () => ((await store.list("bucket-a", `ckpt/${id}/`, 100)).length === 0 ? true : null),
    "no checkpoint is left",
  );
  t.pass();
}
