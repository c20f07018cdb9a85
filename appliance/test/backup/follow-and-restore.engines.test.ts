/** The follower as it ships, on a database of the coordinator's schema: a backup, what followed it, and what a restore makes of both. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureEngine } from "@resontech/airgap/engines";
import { databasePart, lastAcknowledged } from "@resontech/backup/database-part";
import { OpenedBackup } from "@resontech/backup/open-backup";
import { openTarget } from "@resontech/backup/open-target";
import { readRecoveryKey } from "@resontech/backup/recovery-key";
import { stageBackup } from "@resontech/backup/stage-backup";
import { takeBackup, type TakenBackup } from "@resontech/backup/take-backup";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import t, { type Test } from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { type OpenedDatabase, openDatabase } from "@resontech/coordinator/open-database";
import { makeBackupKeys, readBackupKeys } from "../../src/backup/backup-keys.ts";
import { writeBackupSchedule } from "../../src/backup/backup-schedule.ts";
import { readFollowed } from "../../src/backup/follow-state.ts";
import { readBackupFacts } from "../../src/backup/read-backup-facts.ts";
import { stageFollowed } from "../../src/backup/stage-followed.ts";
import { Layout } from "@resontech/frame/layout";

const VERSION = "0.9.0";
/** What a lost host may cost. */
const MAX_LOST_MS = 1_000;
const ACK = { index: 7, leafHash: "a".repeat(64) };

class House {
  readonly layout: Layout;
  readonly target: string;
  readonly sheet: string;
  readonly #database: OpenedDatabase;

  constructor(t: Test) {
    const root = mkdtempSync(join(tmpdir(), "rt-follow-"));
    this.layout = new Layout(root, `fo${process.pid}`);
    const { layout } = this;
    t.teardown(() => {
      this.#database[Symbol.dispose]();
      for (const folder of [root, layout.run()]) rmSync(folder, { recursive: true, force: true });
    });
    this.target = join(root, "target");
    for (const folder of [
      ...[layout.run(), layout.current, layout.etc, this.target, layout.secrets("appliance")],
      ...[layout.data("coordinator"), layout.data("s3", "objects"), layout.data("backup")],
    ])
      mkdirSync(folder, { recursive: true });
    writeFileSync(
      layout.configFile,
      JSON.stringify({
        ...{ formatVersion: 1, instance: layout.instance, appliance: "box", customer: "acme" },
        ...{ uidBase: 64_100, address: "127.0.0.1", name: "localhost", ports: DEFAULT_PORTS },
        ...{ containerEngine: { kind: "podman" }, agent: null, keyKind: "live" },
        bucketQuotaBytes: 1024 ** 3,
      }),
    );
    const nothing = { phases: [], engines: {}, tree: [], images: [], blobs: [], upgradeFrom: [] };
    const about = { formatVersion: 1, product: "resontech-appliance", version: VERSION };
    writeFileSync(
      layout.release("release-manifest.json"),
      JSON.stringify({ ...about, ...nothing, sourceDateEpoch: 0, diskNeedBytes: 0 }),
    );
    this.sheet = makeBackupKeys(layout, "box.acme");
    this.#database = openDatabase(layout.data("coordinator", "coordinator.db"));
  }

  addUser(name: string): void {
    this.#database.write
      .prepare(
        "INSERT INTO users (id, username, is_admin, created_at, subject) VALUES (?, ?, 0, 0, ?)",
      )
      .run(`u_${name}`, name, `s_${name}`);
  }

  acknowledge(): void {
    this.#database.write
      .prepare("INSERT INTO meta (name, value) VALUES ('record-ack', ?)")
      .run(JSON.stringify(ACK));
  }

  async take(nowMs: number): Promise<TakenBackup> {
    const { layout } = this;
    const { keys, signingKeyPem } = readBackupKeys(layout);
    const name = "coordinator";
    const file = layout.data("coordinator", "coordinator.db");
    const part = databasePart({ name, path: "data/coordinator/coordinator.db", file }, layout.root);
    return await takeBackup({
      ...{ target: await openTarget(this.target), keys, signingKeyPem, appliance: "box.acme" },
      ...{ release: VERSION, parts: [part], workDir: layout.data("backup"), keep: 9, nowMs },
      objects: {
        ...{ folder: layout.data("s3"), below: ["objects"], path: "data/s3" },
        xattrProgram: await ensureEngine("xattr"),
      },
      onPart: () => {},
    });
  }

  follower(t: Test): ChildProcess {
    const args = [shippedProgram("follower"), "--root", this.layout.root];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "ignore", "inherit"],
    });
    t.teardown(() => void child.kill("SIGKILL"));
    return child;
  }

  async staged(t: Test, id: string | null) {
    const folder = t.testdir();
    const target = await openTarget(this.target);
    const key = readRecoveryKey(this.sheet);
    const backup = await OpenedBackup.open(target, id, key);
    await stageBackup(backup, {
      ...{ folder, writesObjects: false, xattrProgram: "", onPart: () => {} },
      checkArchive: async () => {},
    });
    const followed = await stageFollowed(backup, folder, { target, key, upToMs: null });
    const file = join(folder, "data", "coordinator", "coordinator.db");
    const acknowledged = lastAcknowledged(file);
    using opened = openDatabase(file);
    const users = opened.read
      .prepare("SELECT username, subject FROM users ORDER BY username")
      .raw()
      .all();
    return { followed, users, acknowledged };
  }
}

const LOOK_MS = 20;

async function until(holds: () => boolean, what: string): Promise<void> {
  for (const endsAt = Date.now() + 120_000; !holds(); await sleep(LOOK_MS))
    if (Date.now() > endsAt) throw new Error(`never: ${what}`);
}

t.test("what came after the backup comes back, and says what the rest does not have", async (t) => {
  const house = new House(t);
  const { layout } = house;
  house.addUser("ann");
  writeBackupSchedule(layout, { target: house.target, everyMinutes: 60, keep: 3 });
  const follower = house.follower(t);
  await until(() => readFollowed(layout)?.failure === "backup_missing", "it waits for a backup");
  const first = await house.take(Date.now() - 60_000);
  const second = await house.take(Date.now());
  await until(() => readFollowed(layout)?.failure === null, "it follows");
  const wroteAtMs = Date.now();
  house.addUser("bob");
  house.acknowledge();
  const acknowledgedAtMs = Date.now();
  await until(() => (readFollowed(layout)?.upToMs ?? 0) > acknowledgedAtMs, "it has both");
  follower.kill("SIGKILL");
  await once(follower, "exit");

  const whole = await house.staged(t, null);
  // A change is of the time at which the look at it began.
  const upToMs = Date.parse(whole.followed?.upTo ?? "");
  t.ok(upToMs >= wroteAtMs - MAX_LOST_MS, "it says that it goes as far as what was written last");
  t.same(whole.acknowledged, ACK, "the log has to admit what it lost");
  t.same(
    whole.users,
    [
      ["ann", "s_ann"],
      ["bob", null],
    ],
    "Keycloak does not know who came after its copy",
  );
  const older = await house.staged(t, first.id);
  t.equal(older.followed, null, "whoever names an older backup means that one");
  t.same(older.users, [["ann", "s_ann"]]);
  t.match((await house.staged(t, second.id)).followed, whole.followed);
});

t.test("how far it is behind is said once it should run, and no schedule ends it", async (t) => {
  const house = new House(t);
  const { layout } = house;
  writeBackupSchedule(layout, { target: house.target, everyMinutes: 60, keep: 3 });
  const hourAgo = Date.now() / 1_000 - 3_600;
  utimesSync(join(layout.etc, "backup-schedule.json"), hourAgo, hourAgo);
  const behind = (runsForMs: number | null, afterMs = 0) =>
    readBackupFacts(layout, Date.now() + afterMs, runsForMs)?.followed;
  t.equal(behind(null), null, "nothing runs, and nothing is written");
  t.equal(behind(30_000), null, "it is starting");
  t.match(behind(90_000), { behindS: 3_600, failure: null });
  await house.take(Date.now());
  const follower = house.follower(t);
  await until(() => (readFollowed(layout)?.upToMs ?? 0) > 0, "it follows");
  await until(() => (behind(90_000)?.behindS ?? 9) <= 2, "it is not behind");
  t.ok((behind(90_000, 20_000)?.behindS ?? 0) >= 19);
  writeBackupSchedule(layout, null);
  t.equal(readBackupFacts(layout, Date.now(), 90_000), null);
  const noted = (): number => readFollowed(layout)?.atMs ?? 0;
  let [looks, last] = [0, noted()];
  await until(() => {
    const now = noted();
    [looks, last] = [now === last ? looks + 1 : 0, now];
    // For longer than it notes nothing while it follows.
    return looks * LOOK_MS > 2_000;
  }, "it follows nothing any more");
  follower.kill("SIGTERM");
  const [code] = (await once(follower, "exit")) as [number];
  t.equal(code, 0);
});
