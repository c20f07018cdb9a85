/** A backup of what an appliance holds, taken while all of it is written, and put in the place of what another host holds. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureEngine } from "@resontech/airgap/engines";
import { connectProducer } from "@resontech/audit/producer";
import { OpenedBackup } from "@resontech/backup/open-backup";
import { openTarget } from "@resontech/backup/open-target";
import { type BackupKeys, makeRecoveryKey, readRecoveryKey } from "@resontech/backup/recovery-key";
import { stageBackup } from "@resontech/backup/stage-backup";
import { takeBackup, type TakenBackup } from "@resontech/backup/take-backup";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import Database from "better-sqlite3";
import { PARTS } from "@resontech/parts";
import t from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { backupParts, OBJECT_FOLDERS, OBJECTS_PATH } from "../../src/backup/backup-parts.ts";
import { checkLogArchive } from "../../src/backup/check-log-archive.ts";
import { hasSameLogKey, putBackPlan } from "../../src/backup/decisions/put-back-plan.ts";
import { finishStaged, policyIn } from "../../src/backup/finish-staged.ts";
import { decidePutBack, namesIn, putBack } from "../../src/backup/put-back.ts";
import type { PostgresShell } from "../../src/backup/postgres-archive.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { Layout } from "@resontech/frame/layout";
import { hasPostgres, RunningPostgres, writePassword } from "./running-postgres.ts";
import { freePort } from "@resontech/house/free-port";

/** PostgreSQL looks up who runs it: the thirteenth is `nobody`. */
const UID_BASE = 65_534 - 13;
const POSTGRES_UID = UID_BASE + 13;
const PASSWORD = "of-the-test";
const isReady = hasPostgres && process.getuid?.() === 0;

const configOf = (address: string): object => ({
  ...{ formatVersion: 1, instance: "t1", appliance: "box", customer: "acme", uidBase: UID_BASE },
  ...{ address, name: "localhost", ports: DEFAULT_PORTS, containerEngine: { kind: "podman" } },
  ...{ agent: null, keyKind: "live", bucketQuotaBytes: 1024 ** 3 },
});

/** What an appliance has on its disk, with the parts of it that run. */
class House implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), "rt-backup-"));
  readonly layout = new Layout(this.root, "t1");
  auditd: AuditdFixture;

  constructor(address: string) {
    chmodSync(this.root, 0o755);
    for (const folder of ["etc/secrets/coordinator", "etc/secrets/vault", "data/coordinator"])
      mkdirSync(join(this.root, folder), { recursive: true });
    for (const folder of [
      "audit",
      "serving/calls",
      "s3/objects/b",
      "s3/versions",
      "s3/iam",
      "agent",
    ])
      mkdirSync(join(this.layout.data(), folder), { recursive: true });
    writeFileSync(this.layout.configFile, JSON.stringify(configOf(address)));
    writeFileSync(this.layout.secrets("coordinator", "session.key"), `of ${address}`, {
      mode: 0o440,
    });
    writeFileSync(this.layout.secrets("vault", "key-encryption.key"), "never in a backup");
    writeFileSync(this.layout.data("agent", "node.crt"), address);
    writeFileSync(this.layout.data("serving", "calls", "1.jsonl"), '{"call":1}\n');
    writeFileSync(this.layout.data("s3", "iam", "users.json"), `{"of":"${address}"}`);
    writeFileSync(this.layout.data("credentials.txt"), address, { mode: 0o600 });
    this.auditd = this.fixture();
  }

  fixture(): AuditdFixture {
    const keysDir = this.layout.secrets("auditd");
    mkdirSync(keysDir, { recursive: true, mode: 0o700 });
    return new AuditdFixture(mkdtempSync(join(this.root, "auditd-")), {
      ...{ auditDir: this.layout.data("audit"), keysDir, learnMs: 1_000 },
      policyFile: this.layout.data("audit", "audit.policy"),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.auditd.stop("SIGKILL");
    rmSync(this.root, { recursive: true, force: true });
  }
}

t.test(
  "a whole appliance comes back on another host, from a backup that was taken while it wrote",
  { skip: isReady ? false : "needs root, and PostgreSQL 15 of Debian" },
  async (t) => {
    await using house = new House("10.0.0.1");
    const { layout, root } = house;
    const outside = t.testdir({ target: {} });
    const file = layout.data("coordinator", "coordinator.db");
    using writer = writing(file);
    house.auditd.init();
    await house.auditd.start();
    const producer = await connectProducer({
      ...{ socketPath: house.auditd.socket("coordinator-gate"), boot: crypto.randomUUID() },
    });
    for (let count = 0; count < 300; count += 1) await producer.fact(keyList());
    await house.auditd.settled();
    const passwordFile = join(root, "password");
    writePassword(passwordFile, PASSWORD, POSTGRES_UID);
    const cluster = layout.data("postgres", "cluster");
    await RunningPostgres.make(cluster, POSTGRES_UID, passwordFile);
    const port = await freePort();
    const about = { uid: POSTGRES_UID, port, password: PASSWORD };
    const taken = await (async () => {
      await using postgres = await RunningPostgres.start(cluster, about);
      await postgres.ask("CREATE TABLE people (name text); INSERT INTO people VALUES ('ann')");
      await waitUntil(() => rowsIn(file) > 20);
      return await takenOf(house, join(outside, "target"), port, passwordFile);
    })();
    await producer.close();
    writer.stop();
    const rows = rowsIn(file);

    await using other = new House("10.0.0.2");
    other.auditd.init();
    await other.auditd.start();
    await other.auditd.stop();
    const config = loadConfig(other.layout.configFile);
    const target = await openTarget(join(outside, "target"));
    const backup = await OpenedBackup.open(target, null, readRecoveryKey(taken.sheet));
    t.equal(backup.manifest.id, taken.id);
    const staging = join(other.root, "restoring");
    mkdirSync(staging, { mode: 0o700 });
    await stageBackup(backup, {
      ...{ folder: staging, writesObjects: true, onPart: () => {} },
      xattrProgram: await ensureEngine("xattr"),
      checkArchive: (_part, archive) => checkedLog(staging, archive),
    });
    await finishStaged(staging, config);
    const isHome = hasSameLogKey(
      await policyIn(other.layout.data("audit")),
      await policyIn(join(staging, "data", "audit")),
    );
    t.equal(isHome, false);
    const names = namesIn(join(staging, "data"));
    const plan = {
      ...putBackPlan(namesIn(other.layout.data()), names, { isHome, declared: PARTS }),
      backup: taken.id,
    };
    decidePutBack({ root: other.root, staging }, plan);
    const aside = putBack({ root: other.root, staging }, plan);
    t.notOk(existsSync(staging));

    const restored = loadConfig(other.layout.configFile);
    t.equal(restored.address, "10.0.0.2", "the address is this host's");
    const secret = (name: string): string => other.layout.secrets("coordinator", name);
    t.equal(readFileSync(secret("session.key"), "utf8"), "of 10.0.0.1");
    t.equal(statSync(secret("session.key")).mode & 0o777, 0o440);
    t.notOk(existsSync(other.layout.secrets("vault")), "the vault's key came from nowhere");
    t.same(namesIn(other.layout.secrets("auditd")), [], "nor did a key of the log");
    t.notOk(existsSync(other.layout.data("agent")), "the node joins anew");
    t.equal(readFileSync(join(aside, "data", "agent", "node.crt"), "utf8"), "10.0.0.2");
    t.match(readFileSync(other.layout.data("s3", "iam", "users.json"), "utf8"), /10\.0\.0\.1/);
    t.equal(readFileSync(other.layout.data("credentials.txt"), "utf8"), "10.0.0.1");

    const database = other.layout.data("coordinator", "coordinator.db");
    t.equal(statSync(database).uid, UID_BASE, "the coordinator's own");
    const kept = rowsIn(database);
    t.ok(kept > 20 && kept <= rows, `${kept} of ${rows} rows`);
    t.equal(generationIn(database), 8, "fences of before are void");

    await using postgres = await RunningPostgres.start(other.layout.data("postgres", "cluster"), {
      ...about,
      port: await freePort(),
    });
    t.equal(await postgres.ask("SELECT name FROM people"), "ann");

    other.auditd = other.fixture();
    await other.auditd.start();
    const { rolledBack } = (await other.auditd.control({ verb: "status" })) as {
      rolledBack: { by: string } | null;
    };
    t.equal(rolledBack?.by, "keys", "nothing is signed before two people agreed");
    await other.auditd.control({ verb: "open-shard", approvers: ["ann", "bob"] });
    t.match(other.auditd.currentSlug, /^\d{4}-2$/);
    const after = await connectProducer({
      ...{ socketPath: other.auditd.socket("coordinator-gate"), boot: crypto.randomUUID() },
    });
    t.ok((await after.fact(keyList())).index > 0, "the log goes on");
    await after.close();
  },
);

t.test(
  "at home the keys of log and vault stay, and the log says what it lost",
  { skip: isReady ? false : "needs root, and PostgreSQL 15 of Debian" },
  async (t) => {
    await using house = new House("10.0.0.1");
    const { layout, root } = house;
    const outside = t.testdir({ target: {} });
    using writer = writing(layout.data("coordinator", "coordinator.db"));
    house.auditd.init();
    await house.auditd.start();
    await waitUntil(() => rowsIn(layout.data("coordinator", "coordinator.db")) > 0);
    writer.stop();
    const folder = join(outside, "target");
    const taken = await takenOf(house, folder, 1, "/dev/null", noPostgres(root));
    const kept = house.auditd.checkpointSize();
    const producer = await connectProducer({
      ...{ socketPath: house.auditd.socket("coordinator-gate"), boot: crypto.randomUUID() },
    });
    for (let count = 0; count < 50; count += 1) await producer.fact(keyList());
    await producer.close();
    await house.auditd.stop();
    const keys = namesIn(layout.secrets("auditd"));

    const staging = join(root, "restoring");
    mkdirSync(staging, { mode: 0o700 });
    const backup = await OpenedBackup.open(
      await openTarget(folder),
      taken.id,
      readRecoveryKey(taken.sheet),
    );
    await stageBackup(backup, {
      ...{ folder: staging, writesObjects: true, onPart: () => {} },
      xattrProgram: await ensureEngine("xattr"),
      checkArchive: (_part, archive) => checkedLog(staging, archive),
    });
    await finishStaged(staging, loadConfig(layout.configFile));
    const isHome = hasSameLogKey(
      await policyIn(layout.data("audit")),
      await policyIn(join(staging, "data", "audit")),
    );
    t.equal(isHome, true);
    const names = namesIn(join(staging, "data"));
    const plan = {
      ...putBackPlan(namesIn(layout.data()), names, { isHome, declared: PARTS }),
      backup: taken.id,
    };
    decidePutBack({ root, staging }, plan);
    putBack({ root, staging }, plan);
    t.same(namesIn(layout.secrets("auditd")), keys);
    t.ok(existsSync(layout.secrets("vault", "key-encryption.key")));
    t.ok(existsSync(layout.data("agent", "node.crt")), "its node is who it was");
    house.auditd = house.fixture();
    await house.auditd.start();
    t.equal(house.auditd.checkpointSize(), kept, "nothing is signed before two people agreed");
    await house.auditd.control({ verb: "open-shard", approvers: ["ann", "bob"] });
    t.match(house.auditd.currentSlug, /^\d{4}-2$/);
    const gone = namesIn(layout.secrets("auditd"));
    t.notOk(
      gone.some((name) => keys.includes(name) && name.endsWith(".pem")),
      "old keys end",
    );
  },
);

t.test(
  "a backup that was changed anywhere is not put back, and nothing of it stays",
  { skip: isReady ? false : "needs root, and PostgreSQL 15 of Debian" },
  async (t) => {
    await using house = new House("10.0.0.1");
    const outside = t.testdir({ target: {} });
    using writer = writing(house.layout.data("coordinator", "coordinator.db"));
    house.auditd.init();
    await house.auditd.start();
    writer.stop();
    const folder = join(outside, "target");
    const taken = await takenOf(house, folder, 1, "/dev/null", noPostgres(house.root));
    const key = readRecoveryKey(taken.sheet);
    const whole = async (): Promise<void> => {
      const staging = mkdtempSync(join(house.root, "try-"));
      const backup = await OpenedBackup.open(await openTarget(folder), null, key);
      await stageBackup(backup, {
        ...{ folder: staging, writesObjects: false, onPart: () => {} },
        xattrProgram: await ensureEngine("xattr"),
        checkArchive: (_part, archive) => checkedLog(staging, archive),
      });
    };
    await whole();
    const files = execFileSync("find", [folder, "-type", "f"], { encoding: "utf8" })
      .trim()
      .split("\n")
      .filter((path) => !path.endsWith("resontech-backup.json") && !path.endsWith(".names"));
    t.ok(files.length > 8, "each part is a file");
    for (const path of files) {
      const bytes = readFileSync(path);
      const changed = Buffer.from(bytes);
      changed[Math.floor(bytes.length * 0.7)]! ^= 1;
      writeFileSync(path, changed);
      await t.rejects(whole(), { name: "BackupError" }, path.slice(folder.length));
      rmSync(path);
      await t.rejects(whole(), { code: "backup_missing" }, `${path.slice(folder.length)} missing`);
      writeFileSync(path, bytes);
    }
    await whole();
  },
);

async function takenOf(
  { layout, root }: House,
  folder: string,
  postgresPort: number,
  passwordFile: string,
  postgres: PostgresShell = localShell,
): Promise<TakenBackup & { sheet: string; keys: BackupKeys }> {
  const workDir = mkdtempSync(join(root, "work-"));
  const { keys, signingKeyPem, sheet } = makeRecoveryKey("box.acme");
  const taken = await takeBackup({
    ...{ target: await openTarget(folder), keys, signingKeyPem, workDir, keep: 3 },
    ...{ appliance: "box.acme", release: "0.9.0", nowMs: Date.now(), onPart: () => {} },
    parts: await backupParts({
      layout,
      declared: PARTS,
      postgresPort,
      passwordFile,
      postgres,
      workDir,
    }),
    objects: {
      ...{ folder: layout.data("s3"), below: OBJECT_FOLDERS, path: OBJECTS_PATH },
      xattrProgram: await ensureEngine("xattr"),
    },
  });
  return { ...taken, sheet, keys };
}

/** In its place an archive of some file. */
const noPostgres =
  (root: string): PostgresShell =>
  async (_script, into) =>
    void into.end(execFileSync("tar", ["-cf", "-", "-C", root, "etc/appliance.json"]));

const localShell: PostgresShell = async (script, into) => {
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(into, "close");
  child.stdout.pipe(into);
  const [code] = (await once(child, "exit")) as [number];
  await closed;
  if (code !== 0) throw new Error(`exit ${code}`);
};

async function checkedLog(staging: string, archive: string): Promise<void> {
  await checkLogArchive(
    {
      ...{ node: [process.execPath], program: shippedProgram("sov-verify") },
      policyFile: join(staging, "data", "audit", "audit.policy"),
    },
    archive,
  );
}

/** Another process that writes a row every few milliseconds, each with one that counts all. */
function writing(file: string): Disposable & { stop: () => void } {
  const program = `
    // It ends with the test, however that ends.
    process.stdin.resume().on("end", () => process.exit());
    const Database = require("better-sqlite3");
    const db = new Database(${JSON.stringify(file)});
    db.pragma("journal_mode = WAL");
    db.exec("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) STRICT; CREATE TABLE job (id INTEGER PRIMARY KEY, at TEXT); PRAGMA user_version = 9");
    db.exec("INSERT INTO meta VALUES ('generation', '7'), ('count', '0')");
    setInterval(() => db.transaction(() => {
      db.prepare("INSERT INTO job (at) VALUES (?)").run("x".repeat(5000));
      db.exec("UPDATE meta SET value = (SELECT count(*) FROM job) WHERE name = 'count'");
    })(), 3);`;
  const child: ChildProcess = spawn(process.execPath, ["-e", program], {
    ...{ cwd: import.meta.dirname, stdio: ["pipe", "inherit", "inherit"] },
  });
  const stop = (): void => void child.kill("SIGKILL");
  return { stop, [Symbol.dispose]: stop };
}

/** 0 before there is one. */
function rowsIn(file: string): number {
  try {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare<[], number>("SELECT count(*) FROM job").pluck().get() ?? 0;
    } finally {
      db.close();
    }
  } catch {
    return 0;
  }
}

/** Of a state that one transaction left. */
function generationIn(file: string): number {
  const db = new Database(file, { readonly: true });
  const rows = db.prepare<[], string>("SELECT value FROM meta WHERE name = 'count'").pluck().get();
  const jobs = db.prepare<[], number>("SELECT count(*) FROM job").pluck().get();
  const generation = db
    .prepare<[], string>("SELECT value FROM meta WHERE name = 'generation'")
    .pluck()
    .get();
  db.close();
  if (Number(rows) !== jobs) throw new Error(`${rows} and ${jobs}: not one transaction's state`);
  return Number(generation);
}

async function waitUntil(holds: () => boolean): Promise<void> {
  for (const endsAt = Date.now() + 120_000; !holds(); await sleep(20))
    if (Date.now() > endsAt) throw new Error("it never came");
}
