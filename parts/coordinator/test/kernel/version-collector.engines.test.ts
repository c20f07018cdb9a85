import { LEAST_COST_BYTES } from "@resontech/contracts/storage-cost";
import t from "tap";
import { formatFence } from "@resontech/contracts/fence";
import { VersionCollector } from "../../src/storage/version-collector.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";

t.test(
  "old versions that no living job reads are removed, counted and logged; what a job reads outlives its overwriting",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const agent = await fixture.agent("node-a", 2);
    const { store } = fixture.s3;
    const { db, commit, gate, record } = fixture.core;
    await commit.run((write) =>
      write
        .prepare(
          "INSERT INTO buckets (name, project_id, log_id, quota_bytes, created_at) VALUES ('bucket-a', 'project-a', 'user-a', 1000000, 1)",
        )
        .run(),
    );
    const collector = new VersionCollector({
      ...{ db, commit, gate, record, store, now: () => Date.now() },
      onError: (error) => fixture.errors.push(String(error)),
    });
    const { id } = await fixture.submit("reads");
    const members = await agent.desiredOf(id, 3);
    const key = "jobs/reads/scripts/model_def.py";
    const read = fixture.core.read
      .prepare<[string, string], string>(
        "SELECT version_id FROM job_inputs WHERE job_id = ? AND key = ?",
      )
      .pluck()
      .get(id, key)!;
    for (const text of ["second", "third"]) await store.put("bucket-a", key, text, "text/plain");
    await store.put("bucket-a", "other.txt", "x".repeat(100), "text/plain");
    await store.remove("bucket-a", "other.txt");
    t.same(await collector.collect(), [], "an hour is left to bring it back");

    const usedBefore = (await store.usage("bucket-a")).usedBytes;
    t.same(await collector.collect(0), [{ bucket: "bucket-a", versions: 3, bytes: 106 }]);
    t.equal((await store.usage("bucket-a")).usedBytes, usedBefore - 3 * LEAST_COST_BYTES);
    t.equal(
      (await store.stat("bucket-a", key, read))?.versionId,
      read,
      "the job's version is there",
    );
    t.equal(
      (
        await store.getRange({ bucket: "bucket-a", ...(await store.stat("bucket-a", key))! }, 0, 4)
      ).toString(),
      "third",
    );

    const [server] = members as [(typeof members)[0]];
    const log = "files_out/training_log.txt";
    for (const text of ["round 0", "rounds 0 and 1", "all rounds"])
      await agent.upload(server, log, text);
    t.match(
      await collector.collect(0),
      [{ versions: 2, bytes: 21 }],
      "outputs that are written anew each round, while the job runs",
    );
    const round = `${server.member}-${formatFence(server.fence)}/0/model`;
    const first = await agent.upload(server, round, "a model", "checkpoint");
    await agent.upload(server, round, "another", "checkpoint");
    t.same(await collector.collect(0), []);
    const model = `ckpt/${id}/${server.attempt}/${round}`;
    t.equal(
      (await store.stat("bucket-a", model, first.versionId!))?.sizeBytes,
      7,
      "an attempt may go on from it",
    );

    await fixture.cancel(id);
    for (const member of members) await agent.report(member, CLEAN);
    await fixture.until(id, "CANCELLED");
    await eventually(
      async () => ((await store.stat("bucket-a", model, first.versionId!)) === null ? true : null),
      "the end of the job removes its models itself",
    );
    t.match(await collector.collect(0), [{ versions: 1 }], "now nobody reads it");
    t.equal(await store.stat("bucket-a", key, read), null);
    t.same(await collector.collect(0), []);
    await eventually(
      async () => ((await gate.openOperations()).length === 0 ? true : null),
      "each removal has its outcome",
    );
    t.same(fixture.errors, []);
  },
);
