import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import t from "tap";
import { isPastRetention } from "@resontech/audit/format/shard/shard-plan";
import { parseCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { connectProducer } from "@resontech/audit/producer";
import { until } from "@resontech/audit/testing/until";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { verified } from "./helper/verified.ts";
import { gateOf } from "@resontech/vault/testing/started-both";
import { liftHold, setHold } from "@resontech/vault/testing/privacy-requests";
import { say } from "@resontech/vault/testing/say";
import { VaultFixture } from "@resontech/vault/testing/vault-fixture";
import { agedAuditd, checkpointOf, LONG_BEFORE } from "./helper/aged-log.ts";

const ofDeletion = async (folder: string) =>
  (await readLeaves(folder))
    .filter(({ type }) => type === "audit.shard.delete")
    .map(({ phase, outcome, detail, op }) => ({ phase, code: outcome?.code, detail, op }));

const vaultLine = (auditd: Awaited<ReturnType<typeof agedAuditd>>) =>
  connectProducer({ socketPath: auditd.socket("vault"), boot: crypto.randomUUID() });

const PASSED = { verdicts: { INTEGRITY: { verdict: "PASS" }, COMPLETENESS: { verdict: "PASS" } } };

t.test("a shard is past its retention by its last entry, never within a year", async (t) => {
  const now = Date.parse("2026-06-01T00:00:00.000Z");
  const before = Date.parse("2019-06-01T00:00:00.000Z");
  t.equal(isPastRetention("2019-05-31T23:59:59.999Z", before, now), true);
  t.equal(isPastRetention("2019-06-01T00:00:00.000Z", before, now), false);
  t.equal(isPastRetention("2026-01-01T00:00:00.000Z", now, now), false);
  t.equal(isPastRetention("", before, now), false);
});

t.test(
  "the oldest shards go, on record, while the clock is vouched for; the last two stay",
  async (t) => {
    const auditd = await agedAuditd(t);
    const { origin, size, root } = parseCheckpoint(checkpointOf(auditd, "2018"))!;
    rmSync(auditd.config.clockSyncedFile!);
    await auditd.start();
    await using vault = await vaultLine(auditd);
    t.same(await vault.deleteShards(LONG_BEFORE), [], "not while nobody vouches for the clock");
    writeFileSync(auditd.config.clockSyncedFile!, "");
    await using gate = await gateOf(auditd);
    await t.rejects(
      gate.deleteShards(LONG_BEFORE),
      { code: "audit_unavailable" },
      "the vault alone knows of holds",
    );
    t.same(await vault.deleteShards("2018-06-01T00:00:00.000Z"), [], "its last entry is younger");
    t.same(await vault.deleteShards(LONG_BEFORE), [origin]);
    await until(() => !readdirSync(auditd.config.auditDir).some((name) => name.startsWith("2018")));
    t.same(
      await vault.deleteShards("2020-06-01T00:00:00.000Z"),
      [],
      "not the one before the one that is written",
    );
    await vault.close();
    await auditd.stop();
    const deletions = await ofDeletion(auditd.shardDir(auditd.currentSlug));
    const stated = { origin, size, root: root.toString("hex") };
    t.match(deletions.slice(0, 2), [
      { phase: "requested", detail: { ...stated, before: LONG_BEFORE, last_at: /^2019-01-02/ } },
      { phase: "completed", code: "ok", detail: stated },
    ]);
    t.equal(deletions.length, 2);
    t.match(await verified(auditd), PASSED);
  },
);

t.test("killed at any moment it goes on, and says so once", async (t) => {
  for (const [when, phases] of [
    ["before the rename", ["requested", "failed", "requested", "completed"]],
    ["after the rename", ["requested", "completed"]],
    ["before the last of it goes", ["requested", "completed"]],
  ] as const) {
    const auditd = await agedAuditd(t);
    process.env["NODE_OPTIONS"] =
      `--import "data:text/javascript,${encodeURIComponent(killing(when))}"`;
    await auditd.start().finally(() => delete process.env["NODE_OPTIONS"]);
    const vault = await vaultLine(auditd);
    vault.deleteShards(LONG_BEFORE).catch(() => {});
    await auditd.ended(20_000);
    await auditd.start();
    await until(() => vault.connected);
    if (when === "before the rename")
      t.same(await vault.deleteShards(LONG_BEFORE), ["box.audit.acme/2018"]);
    await until(() => !readdirSync(auditd.config.auditDir).some((name) => name.startsWith("2018")));
    await vault.close();
    await auditd.stop();
    const deletions = await ofDeletion(auditd.shardDir(auditd.currentSlug));
    t.same(
      deletions.map(({ phase }) => phase),
      phases,
      `killed ${when}`,
    );
    t.match(await verified(auditd), PASSED);
  }
});

t.test("a legal hold keeps every shard until it is lifted", async (t) => {
  const auditd = await agedAuditd(t);
  rmSync(auditd.config.clockSyncedFile!);
  await auditd.start();
  const vault = new VaultFixture(auditd.root, {
    retention: { leavesYears: 1, disclosuresMonths: 240, anonymousMonths: 240 },
  });
  t.teardown(() => vault.stop("SIGKILL"));
  await vault.start();
  await until(async () => (await vault.status()).connected);
  t.match(await vault.ask(setHold("usr-held")), { holds: ["case-7"] });
  writeFileSync(auditd.config.clockSyncedFile!, "");
  const restarted = async () => {
    await vault.stop();
    await vault.start();
    await using gate = await gateOf(auditd);
    // Between two that are sealed lies one round of all its duties.
    for (let round = 0; round < 2; round++) {
      const { sealed } = await vault.status();
      await say(gate, "usr-1", "10.0.0.1");
      await until(async () => (await vault.status()).sealed === sealed + 1);
    }
  };
  await restarted();
  t.ok(existsSync(auditd.shardDir("2018")), "while it stands");
  t.match(await vault.ask(liftHold("usr-held")), { holds: [] });
  await restarted();
  await until(() => !existsSync(auditd.shardDir("2018")));
  t.ok(existsSync(auditd.shardDir("2020")));
});

/** Text of a module that kills its process at a moment of a deletion. */
function killing(when: string): string {
  return `import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
const { rename, rm } = fs;
const kill = () => { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); };
fs.rename = async (from, to) => {
  if (!to.includes(".deleted.") || ${when === "before the last of it goes"}) return rename(from, to);
  if (${when === "after the rename"}) await rename(from, to);
  return kill();
};
fs.rm = async (path, options) => (/\\.deleted\\.[0-9a-f-]{36}$/.test(path) ? kill() : rm(path, options));
syncBuiltinESMExports();`;
}
