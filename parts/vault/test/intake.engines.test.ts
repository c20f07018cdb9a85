import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import t from "tap";
import { until } from "@resontech/audit/testing/until";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { auditdFor, gateOf, startedBoth } from "./helper/started-both.ts";
import { erase } from "./helper/privacy-requests.ts";
import { filesHolding } from "./helper/files-holding.ts";
import { say } from "./helper/say.ts";
import { VaultFixture } from "./helper/vault-fixture.ts";

const spool = (logDir: string) => readdirSync(join(logDir, "disclosures"));

t.test(
  "takes over what opens commitments, and no file holds a value in clear any more",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const value = "canary-10.11.12.13";
    for (let n = 0; n < 20; n++) await say(gate, `usr-${n % 3}`, `${value}-${n}`);
    await until(async () => (await vault.status()).sealed === 20);
    await until(() => spool(auditd.logDir).length === 0);
    t.match(await vault.status(), { connected: true, keys: 3, fault: null });
    t.same(filesHolding(auditd.root, value), []);
    for (const file of ["sealed/sealed.sqlite", "vault-keys/keys.sqlite"])
      t.equal(statSync(join(auditd.root, file)).mode & 0o777, 0o600, file);
    t.equal(statSync(vault.config.keyFile).mode & 0o777, 0o400);
  },
);

t.test("callers without a name share one key a month", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  for (let n = 0; n < 5; n++) await say(gate, "anonymous", `10.0.0.${n}`);
  await until(async () => (await vault.status()).sealed === 5);
  t.match(await vault.status(), { keys: 1 });
});

t.test("kills of vault and auditd, at any step, lose nothing and double nothing", async (t) => {
  const [auditd, vault] = await startedBoth(t, { pollMs: 10 });
  await using gate = await gateOf(auditd);
  const said: number[] = [];
  const stop = new AbortController();
  const saying = (async () => {
    for (let n = 0; !stop.signal.aborted; n++)
      await say(gate, `usr-${n % 5}`, `10.0.${n}`).then(
        ({ index }) => said.push(index),
        // auditd was killed: the event may or may not be there.
        () => sleep(20),
      );
  })();
  for (let kill = 0; kill < 8; kill++) {
    await sleep(60 + 40 * kill);
    const one = kill % 2 === 0 ? vault : auditd;
    await one.stop("SIGKILL");
    await one.start();
  }
  const upTo = said.length + 20;
  await until(() => said.length >= upTo);
  stop.abort();
  await saying;
  await until(async () => (await vault.status()).connected && spool(auditd.logDir).length === 0);
  // What was said while auditd was killed may lie behind the last of `said`.
  await auditd.settled();
  const leaves = await readLeaves(auditd.logDir);
  const committed = leaves.flatMap(({ src }, index) =>
    src?.addr === undefined ? [] : [`${index} ${src.addr}`],
  );
  await vault.stop();
  using db = Object.assign(
    new Database(join(auditd.root, "sealed/sealed.sqlite"), { readonly: true }),
    {
      [Symbol.dispose]() {
        db.close();
      },
    },
  );
  const sealed = db
    .prepare<[], { idx: number; commitment: Buffer }>(
      "SELECT idx, commitment FROM commitments ORDER BY idx",
    )
    .all()
    .map(({ idx, commitment }) => `${idx} ${commitment.toString("hex")}`);
  t.ok(said.length > 20, `${said.length} events`);
  t.same(sealed, committed, "each commitment of the log is sealed once");
});

t.test(
  "a segment that comes again is sealed once, and what is unlike what was sealed is not taken",
  async (t) => {
    const root = temporaryFolder(t);
    const auditd = auditdFor(root);
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    await auditd.start();
    await using gate = await gateOf(auditd);
    await say(gate, "usr-1", "10.0.0.1");
    await auditd.stop("SIGKILL");
    t.equal(spool(auditd.logDir).length, 1, "it waits for a vault, and outlives auditd");
    await auditd.start();
    const vault = new VaultFixture(root);
    t.teardown(() => vault.stop("SIGKILL"));
    await vault.start();
    await until(
      async () => (await vault.status()).sealed === 1 && spool(auditd.logDir).length === 0,
    );
    t.equal((await vault.status()).fault, null);
  },
);

t.test("without its key file the vault does not start over", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  await say(gate, "usr-1", "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 1);
  await vault.stop();
  rmSync(vault.config.keyFile);
  await t.rejects(vault.start(), /is gone/);
});

t.test("only the vault is handed what opens commitments", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await vault.stop();
  await using gate = await gateOf(auditd);
  await say(gate, "usr-1", "10.0.0.1");
  await t.rejects(gate.spooled(), { code: "audit_unavailable" });
  await until(() => gate.connected);
  await t.rejects(gate.sealed("box.audit.acme/2026", "0000000000000000.jsonl"), {
    code: "audit_unavailable",
  });
  t.equal(spool(auditd.logDir).length, 1);
});

t.test(
  "a damaged segment is told once in the log and in the status, and opens no act after act",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    await say(gate, "usr-1", "10.0.0.1");
    await until(async () => (await vault.status()).sealed === 1);
    await vault.stop();
    await say(gate, "usr-1", "10.0.0.2");
    for (const [file, table] of [
      ["sealed/sealed.sqlite", "commitments"],
      ["vault-keys/keys.sqlite", "keys"],
    ] as const) {
      const db = new Database(join(auditd.root, file));
      db.prepare(`UPDATE ${table} SET month = '2020-01'`).run();
      db.close();
    }
    const folder = join(auditd.logDir, "disclosures");
    const [segment = ""] = readdirSync(folder);
    const file = join(folder, segment);
    writeFileSync(file, readFileSync(file, "utf8").replace("10.0.0.2", "10.0.0.3"));
    await auditd.control({ verb: "clock-is-right" });
    await vault.start();
    await until(async () => (await vault.status()).fault !== null);
    t.match(await vault.ask({ verb: "health" }), {
      connected: true,
      fault: { code: "spool_blocked", message: /does not open/ },
    });
    t.match(await vault.ask(erase("usr-1")), { error: { code: "spool_blocked" } });
    const said = async (type: string) =>
      (await readLeaves(auditd.logDir)).filter((leaf) => leaf.type === type);
    const origin = `box.audit.acme/${auditd.currentSlug}`;
    for (const type of ["privacy.retention", "privacy.spool"])
      await until(async () => (await said(type)).length > 0, 60_000);
    t.equal((await said("privacy.retention")).length, 1, "asked for, and waiting");
    t.match(await said("privacy.spool"), [
      { detail: { origin, segment, reason: "segment_fault", over: false } },
    ]);
    await auditd.stop();
    renameSync(file, join(auditd.root, "aside"));
    await auditd.start();
    await until(
      async () => (await vault.status()).connected && (await vault.status()).underWay === 0,
    );
    t.match(await vault.status(), { fault: null, erased: 1, sealed: 0 });
    await until(async () => (await said("privacy.spool")).length === 2);
    t.match((await said("privacy.spool"))[1], { detail: { segment, over: true } });
  },
);

t.test("a database that is new beside older keys has its holds in doubt", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  t.match(await vault.status(), { holdsInDoubt: false });
  await say(gate, "usr-1", "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 1);
  await vault.stop();
  rmSync(join(vault.config.dataDir, "sealed.sqlite"));
  await vault.start();
  t.match(await vault.status(), { sealed: 0, keys: 1, holdsInDoubt: true });
});
