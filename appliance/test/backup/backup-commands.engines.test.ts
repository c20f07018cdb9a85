/** `appliance backup` and `appliance restore --drill` as an operator gives them, on a root with the real auditd, store engine's files and PostgreSQL. */
import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureEngine } from "@resontech/airgap/engines";
import { openTarget } from "@resontech/backup/open-target";
import { readRecoveryKey } from "@resontech/backup/recovery-key";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import Database from "better-sqlite3";
import Docker from "dockerode";
import t from "tap";
import { startPodman } from "@resontech/house/podman-service";
import { shippedProgram } from "@resontech/house/shipped-program";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import {
  restoreAppliance,
  type Restored,
  type RestoreOptions,
} from "../../src/backup/restore-appliance.ts";
import { Layout } from "@resontech/frame/layout";
import { openContext } from "../../src/supervise.ts";
import { loadPostgresImage, servePostgres } from "./postgres-container.ts";
import { freePort } from "@resontech/house/free-port";

const run = promisify(execFile);
const VERSION = "0.9.0";

t.test("a key, backups, a schedule and a drill, each on record", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "rt-cmd-"));
  const instance = `bk${process.pid}`;
  const layout = new Layout(root, instance);
  t.teardown(() => {
    for (const folder of [root, layout.run()]) rmSync(folder, { recursive: true, force: true });
  });
  const outside = t.testdir({ target: {}, engine: {} });
  writeFileSync(join(outside, "root.crt"), "");
  const podman = await startPodman(
    mkdtempSync(join(tmpdir(), "rt-cmd-engine-")),
    "localhost:5000",
    join(outside, "root.crt"),
    null,
  );
  t.teardown(() => podman.stop());
  const image = await loadPostgresImage(podman, outside);
  const engine = new Docker({ socketPath: podman.socket });
  const port = await freePort();
  await servePostgres(engine, image, join(root, "postgres"), {
    port,
    name: `rt-${instance}-postgres`,
  });
  await layOut(layout, { socket: podman.socket, port });
  const auditd = logOf(layout);
  auditd.init();
  await auditd.start();
  t.teardown(() => auditd.stop("SIGKILL"));

  const main = shippedProgram("appliance");
  const appliance = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(process.execPath, [main, "--root", root, ...args], { cwd: "/" });
    return stdout;
  };
  const refused = (...args: string[]): string => {
    const all = [main, "--root", root, ...args];
    return spawnSync(process.execPath, all, { encoding: "utf8", cwd: "/" }).stderr;
  };
  const target = join(outside, "target");

  t.match(refused("backup", "take", target), /backup_key_none.*appliance backup key/s);
  const sheet = await appliance("backup", "key");
  t.match(sheet, /^AGE-SECRET-KEY-1[0-9A-Z]+$/m);
  t.match(refused("backup", "key"), /backup_key_exists/);
  const kept = readdirSync(layout.etc, { recursive: true, encoding: "utf8" })
    .map((name) => join(layout.etc, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "utf8"));
  t.notOk(
    kept.some((text) => text.includes("AGE-SECRET-KEY")),
    "the secret is kept nowhere",
  );

  const taken = JSON.parse(await appliance("backup", target, "--keep", "2", "--json")) as {
    id: string;
    parts: number;
  };
  t.equal(taken.parts, 9);
  t.match(JSON.parse(await appliance("backup", "list", target, "--json")), [
    { id: taken.id, release: VERSION, objects: 1 },
  ]);
  t.match(refused("backup", "take", join(outside, "not-mounted")), /backup_target: .*no folder/);
  t.match(
    await appliance("backup", "schedule", target, "--every", "1h", "--keep", "3"),
    /every 60 min/,
  );
  t.match(refused("backup", "schedule", target, "--every", "1s"), /from 5m to 7d/);
  await appliance("backup", "unschedule");

  const paper = join(outside, "sheet.txt");
  writeFileSync(paper, sheet);
  chmodSync(paper, 0o644);
  const drill = ["restore", target, "--drill", "--recovery-key", paper];
  t.match(refused(...drill), /secret_readable/);
  chmodSync(paper, 0o600);
  t.match(await appliance(...drill), /whole.*log .*accepted by the offline verifier/s);
  t.notOk(readdirSync(root).includes("trying-backup"), "the drill leaves nothing");
  writeFileSync(
    paper,
    sheet.replace(
      /^(AGE-SECRET-KEY-1.)(.)/m,
      (_, a: string, b: string) => a + (b === "Q" ? "P" : "Q"),
    ),
  );
  t.match(refused(...drill), /backup_key_invalid.*AGE-SECRET-KEY-1/s);
  t.match(refused("restore"), /nothing was broken off/);
  writeFileSync(paper, sheet);
  setVersion(layout, "0.9.1");
  t.match(
    refused("restore", target, "--yes", "--recovery-key", paper),
    /restore_other_release: .*0\.9\.0, and 0\.9\.1/,
  );

  setVersion(layout, VERSION);
  writeFileSync(layout.data("s3", "objects", "b", "one"), "changed since");
  const notAgreed = new Error("no");
  const restore = (agrees: boolean) =>
    restoreBackup(layout, target, sheet, {
      stop: async () => void (await auditd.stop()),
      agree: async () => {
        if (!agrees) throw notAgreed;
      },
    });
  await t.rejects(restore(false), notAgreed);
  t.equal(readFileSync(layout.data("s3", "objects", "b", "one"), "utf8"), "changed since");
  const restored = await restore(true);
  t.match(restored, { backup: taken.id, isHome: true, objects: { count: 1 } });
  t.equal(readFileSync(layout.data("s3", "objects", "b", "one"), "utf8"), "an object");
  t.equal(readFileSync(layout.data("backup", "put-back"), "utf8"), taken.id);
  const before = join(restored.aside, "data");
  t.equal(readFileSync(join(before, "s3", "objects", "b", "one"), "utf8"), "changed since");

  auditd.config.auditDir = join(before, "audit");
  const leaves = await readLeaves(auditd.logDir);
  const said = leaves.filter(({ type }) => type === "admin.backup");
  t.same(
    said.map(({ detail }) => (detail as { change: string }).change),
    ["key-made", "begun", "taken", "scheduled", "unscheduled", "tried"],
  );
});

/** As the command does it, but for the supervisor. */
async function restoreBackup(
  layout: Layout,
  target: string,
  sheet: string,
  by: Pick<RestoreOptions, "stop" | "agree">,
): Promise<Restored> {
  return await restoreAppliance(openContext(layout.root), {
    ...{ target: await openTarget(target), id: null, upToMs: null, key: readRecoveryKey(sheet) },
    ...{ ...by, onPart: () => {} },
  });
}

async function layOut(
  layout: Layout,
  { socket, port }: { socket: string; port: number },
): Promise<void> {
  for (const folder of ["bin", "app", "engines"])
    mkdirSync(layout.release(folder), { recursive: true });
  for (const folder of ["coordinator", "audit", "s3/objects/b", "s3/versions", "s3/iam"])
    mkdirSync(join(layout.data(), folder), { recursive: true });
  for (const secrets of ["appliance", "auditd"])
    mkdirSync(layout.secrets(secrets), { recursive: true, mode: 0o700 });
  // Parents get the mode too, and what other files start works below the first of them.
  mkdirSync(layout.run("audit"), { recursive: true });
  for (const producer of ["appliance", "control"])
    mkdirSync(layout.run("audit", producer), { mode: 0o700 });
  symlinkSync(process.execPath, layout.release("bin", "node"));
  symlinkSync(shippedProgram("sov-verify"), layout.release("app", "sov-verify.mjs"));
  for (const [engine, program] of [
    ["xattr", "rt-xattr"],
    ["lock", "rt-lock"],
  ] as const)
    symlinkSync(await ensureEngine(engine), layout.release("engines", program));
  setVersion(layout, VERSION);
  writeFileSync(
    layout.configFile,
    JSON.stringify({
      ...{ formatVersion: 1, instance: layout.instance, appliance: "box", customer: "acme" },
      ...{ uidBase: 64_100, address: "127.0.0.1", name: "localhost" },
      ports: { ...DEFAULT_PORTS, postgres: port },
      containerEngine: { kind: "docker", socket },
      ...{ agent: null, keyKind: "live", bucketQuotaBytes: 1024 ** 3 },
    }),
  );
  writeFileSync(layout.data("s3", "objects", "b", "one"), "an object");
  const db = new Database(layout.data("coordinator", "coordinator.db"));
  db.exec("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT); PRAGMA user_version = 3");
  db.close();
}

function setVersion(layout: Layout, version: string): void {
  const manifest = {
    ...{ formatVersion: 1, product: "resontech-appliance", version, sourceDateEpoch: 0 },
    ...{
      upgradeFrom: [],
      diskNeedBytes: 0,
      phases: [],
      engines: {},
      tree: [],
      images: [],
      blobs: [],
    },
  };
  writeFileSync(layout.release("release-manifest.json"), JSON.stringify(manifest));
}

function logOf(layout: Layout): AuditdFixture {
  const producer = { name: "appliance", family: "appliance", occasional: true, gid: null };
  return new AuditdFixture(mkdtempSync(join(layout.root, "auditd-")), {
    ...{ auditDir: layout.data("audit"), keysDir: layout.secrets("auditd") },
    policyFile: layout.data("audit", "audit.policy"),
    producers: [{ ...producer, socket: layout.run("audit", "appliance", "sock") }],
    controlSocket: layout.run("audit", "control", "sock"),
  });
}
