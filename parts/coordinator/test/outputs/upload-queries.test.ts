import Database from "better-sqlite3";
import t from "tap";
import { moveTimes } from "../../src/kernel/clock-steps.ts";
import { VersionCollector } from "../../src/storage/version-collector.ts";
import { RecordingAudit } from "../helper/recording-audit.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

/** One old version, which nobody needs. */
async function oldVersionsCollected({ parts, nowMs }: KernelWorld): Promise<void> {
  const version = { key: "x", sizeBytes: 1, isMarker: false };
  const stored = [
    { ...version, versionId: "v2", isLatest: true, modifiedAt: 2 },
    { ...version, versionId: "v1", isLatest: false, modifiedAt: 1 },
  ];
  const { gate, record } = new RecordingAudit();
  const collector = new VersionCollector({
    ...{ db: parts.db, commit: parts.commit, gate, record },
    store: {
      versions: async function* () {
        yield stored;
      },
      remove: () => Promise.resolve(),
    },
    now: () => nowMs,
    onError: (error) => {
      throw error;
    },
  });
  await collector.collect(0);
}

t.test(
  "no statement reads the uploads of other members and jobs, however many there are",
  async (t) => {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with the database as `this`
    const prepared = t.capture(Database.prototype, "prepare", Database.prototype.prepare);
    using world = new KernelWorld();
    const { parts } = world;
    const agent = new SimAgent(world, "node-a", 2);
    world.admit("node-a");
    await agent.register();
    const { id } = await parts.kernel.submit(world.task("stored"));
    await parts.scheduler.cycle();
    for (let turn = 0; turn < 20; turn++) {
      await agent.fetch();
      for (let member = 0; member < 3; member++) agent.advance(member, null);
      if (turn > 10) agent.finishClients();
      await agent.send();
    }
    t.equal(parts.kernel.job(id)?.state, "SUCCEEDED");
    const [upload] = world.all<{ id: string; member_id: string; key: string }>(
      "SELECT id, member_id, key FROM uploads WHERE job_id = ?",
      id,
    );
    parts.outputs.openFor(upload!.member_id, upload!.key);
    parts.outputs.unfinished();
    parts.outputs.move(upload!.id, "OPEN", "ABORTED", { closed_at: 1 });
    parts.members.bytesToUpload(upload!.member_id);
    parts.outputs.forgetStoredLogs(upload!.member_id);
    moveTimes(parts.db, parts.meta, 1);
    parts.outputs.unfinishedOf({ bucket: "bucket-a", key: upload!.key });
    parts.db.exec(
      "INSERT INTO buckets (name, project_id, log_id, quota_bytes, created_at) VALUES ('bucket-a', 'project-a', 'user-a', 1, 1)",
    );
    await oldVersionsCollected(world);

    const statements = new Set(prepared.args().map(([sql]) => sql));
    const aboutUploads = [...statements].filter(
      (sql) => /\buploads\b/.test(sql) && !sql.startsWith("SELECT id, member_id"),
    );
    t.ok(aboutUploads.length >= 10, `${aboutUploads.length} statements`);
    for (const sql of aboutUploads) {
      const plan = world.all<{ detail: string }>(
        `EXPLAIN QUERY PLAN ${sql.replaceAll(/\?|@\w+/g, "'x'")}`,
      );
      // Of the index of those that are under way every row may be read: they are few.
      const scans = plan
        .map(({ detail }) => detail)
        .filter((detail) =>
          /SCAN (job_inputs|uploads)(?! USING (COVERING )?INDEX uploads_unfinished)/.test(detail),
        );
      t.same(scans, [], sql);
    }
  },
);
