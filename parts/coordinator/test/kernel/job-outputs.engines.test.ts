/** What a job left stays its own: a later job under the same name hides it, nobody collects it, and it goes when it is asked to. */
import { LEAST_COST_BYTES } from "@resontech/contracts/storage-cost";
import t from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { VersionCollector } from "../../src/storage/version-collector.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";

const LOG = "jobs/again/files_out/training_log.txt";
const MODEL = "jobs/again/model_out/checkpoint.pt";

t.test("outputs are recorded by job and version through two runs of one name", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  const { store } = fixture.s3;
  const { db, commit, gate, record, kernel } = fixture.core;
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
  const textOf = async (key: string, versionId: string, bytes: number): Promise<string> =>
    (await store.getRange({ bucket: "bucket-a", key, versionId }, 0, bytes - 1)).toString();
  const run = async (log: string, model: string | null) => {
    const { id } = await fixture.submit("again");
    const members = await agent.desiredOf(id, 3);
    const [server] = members as [(typeof members)[0]];
    return {
      id,
      store: async () => {
        await agent.upload(server, "files_out/training_log.txt", "unfinished");
        await agent.upload(server, "files_out/training_log.txt", log);
        if (model !== null) await agent.upload(server, "model_out/checkpoint.pt", model);
      },
      end: async () => {
        await fixture.cancel(id);
        for (const member of members) await agent.report(member, CLEAN);
        await fixture.until(id, "CANCELLED");
      },
    };
  };
  const outputs = (id: string) => kernel.outputs(id).map(({ key, sizeBytes }) => [key, sizeBytes]);

  const first = await run("first log", "the first model");
  await first.store();
  await first.end();
  t.strictSame(outputs(first.id), [
    [LOG, 9],
    [MODEL, 15],
  ]);
  t.not(await store.stat("bucket-a", MODEL), null, "in the folder until the name is used again");

  const second = await run("second run's log", null);
  await eventually(
    async () => ((await store.stat("bucket-a", MODEL)) === null ? true : null),
    "the first run's model is hidden",
  );
  await second.store();
  await second.end();
  t.equal(
    await store.stat("bucket-a", MODEL),
    null,
    "no model of another run lies beside this one's log",
  );
  t.strictSame(outputs(second.id), [[LOG, 16]]);

  await collector.collect(0);
  for (const { key, versionId, sizeBytes } of kernel.outputs(first.id))
    t.match(await textOf(key, versionId, sizeBytes), /^(the )?first/, `${key} is there still`);
  const usedWithBoth = (await store.usage("bucket-a")).usedBytes;

  t.equal(await kernel.forgetOutputs(first.id), 2);
  t.strictSame(outputs(first.id), []);
  await eventually(
    async () =>
      (await store.usage("bucket-a")).usedBytes === usedWithBoth - 2 * LEAST_COST_BYTES
        ? true
        : null,
    "they no longer count in the quota",
  );
  const [log] = kernel.outputs(second.id);
  t.equal(await textOf(LOG, log!.versionId, log!.sizeBytes), "second run's log");

  await store.remove("bucket-a", LOG);
  await collector.collect(0);
  t.equal(await store.stat("bucket-a", LOG, log!.versionId), null, "what its owner deletes goes");
  t.same(fixture.errors, []);
});

t.test(
  "a site's own file is stored only where its project says so, and stands on record as an export",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const agent = await fixture.agent("node-a", 2);
    const { commit, kernel } = fixture.core;
    const { id } = await fixture.submit("lets-out");
    const [, client] = (await agent.desiredOf(id, 3)) as [
      unknown,
      Parameters<typeof agent.upload>[0],
    ];
    const key = "files_out/sites/site-1/table.csv";
    await t.rejects(agent.upload(client, key, "kept"), /not_allowed|may not write/);
    await commit.run((db) => db.prepare("UPDATE projects SET returns_site_files = 1").run());
    await agent.upload(client, key, "let out");
    t.match(kernel.outputs(id), [{ key: `jobs/lets-out/${key}`, sizeBytes: 7 }]);
    await fixture.core[Symbol.asyncDispose]();
    await fixture.auditd.stop();
    const leaves = await readLeaves(fixture.auditd.logDir);
    const exported = leaves.filter(
      ({ detail }) => (detail as { export?: boolean } | undefined)?.export === true,
    );
    t.same(exported.map(({ type }) => type).toSorted(), ["model.output", "model.output.open"]);
  },
);
