/** An input in another bucket than its job's: where it is staged from, what it is checked by, and that it stays as long as it is read. */
import t from "tap";
import { findJobObjects } from "../../src/audit/job-objects.ts";
import { inputRows } from "../../src/kernel/desired-set.ts";
import { JobModels } from "../../src/inference/job-models.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

t.test("a job reads what another one left in another bucket", async (t) => {
  using world = new KernelWorld();
  const { parts } = world;
  const agent = new SimAgent(world, "node-a", 2);
  world.admit("node-a");
  await agent.register();
  const { id: trained } = await parts.kernel.submit(world.task("trained"));
  await parts.scheduler.cycle();
  for (let turn = 0; turn < 20; turn++) {
    await agent.fetch();
    for (let member = 0; member < 3; member++) agent.advance(member, null);
    if (turn > 10) agent.finishClients();
    await agent.send();
  }
  t.equal(parts.kernel.job(trained)?.state, "SUCCEEDED");
  const sha256 = "a".repeat(64);
  const key = "jobs/trained/model_out/checkpoint.pt";
  const [member] = world.all<{ id: string }>(
    "SELECT id FROM members WHERE job_id = ? AND is_lead = 1",
    trained,
  );
  const upload = {
    ...{ id: "upload-1", job_id: trained, member_id: member!.id, generation: 1, counter: 1 },
    ...{ bucket: "bucket-a", key, s3_upload_id: "s3", is_log: 0, size_bytes: 7, sha256 },
    ...({ part_size_bytes: 7, part_count: 1, state: "COMPLETED", etags: null } as const),
    ...{ version_id: "v7", etag: "e7-1", opened_at: 1, closed_at: 2 },
  };
  await parts.commit.run(() => {
    parts.outputs.insert(upload);
    parts.outputs.keep(upload);
  });
  const models = new JobModels(world.read);
  const found = models.find(trained, key);
  t.same(found, { key, versionId: "v7", sizeBytes: 7, etag: "e7-1", sha256 });
  t.equal(models.find(trained, `${key}x`), null);
  t.equal(parts.outputs.isRead("upload-1"), false);

  const { id } = await parts.kernel.submit(
    world.task("serves", {
      bucket: "bucket-b",
      inputs: [
        { ...found!, kind: "script", bucket: "bucket-a", target: "scripts/model_def.py" },
        { kind: "shard", key: "0.zip", versionId: "v1", etag: "e", sizeBytes: 1, target: "x" },
        { kind: "shard", key: "1.zip", versionId: "v1", etag: "e", sizeBytes: 1, target: "x" },
      ],
    }),
  );
  t.equal(parts.outputs.isRead("upload-1"), true, "it is not removed while it is read");
  await parts.scheduler.cycle();
  await agent.fetch();
  const lead = { role: "server", is_lead: 1, shard_index: null, attempt_id: "", job_id: id };
  t.same(
    inputRows(parts.db, { reads: () => true }, lead).map((row) => [
      row.bucket,
      row.key,
      row.sha256,
    ]),
    [
      ["bucket-a", key, sha256],
      ["bucket-b", "0.zip", null],
      ["bucket-b", "1.zip", null],
    ],
  );
  const told = [...agent.held.values()].flatMap(({ desired }) => desired.inputs);
  t.match(
    told.find((input) => input.target === "scripts/model_def.py"),
    { etag: "e7-1", sha256, sizeBytes: 7 },
  );
  t.notOk("sha256" in told.find(({ kind }) => kind === "shard")!, "nobody knows of it");
  t.ok(findJobObjects(world.read, id)?.paths.includes(`bucket-a/${key}?versionId=v7`));
});
