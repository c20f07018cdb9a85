/** A vault whose database was put back to the middle of an act goes by the log, which has ended it since: nothing is said twice, nothing comes back. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import t from "tap";
import { until } from "@resontech/audit/testing/until";
import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { verified } from "@resontech/auditd/testing/verified";
import { atRest, type VaultFixture } from "./helper/vault-fixture.ts";
import { backdate } from "./helper/backdate.ts";
import { damagedSegment } from "./helper/damaged-segment.ts";
import { disclosing, erase, liftHold, setHold } from "./helper/privacy-requests.ts";
import { gateOf, startedBoth } from "./helper/started-both.ts";
import { isSaidSo, phasesOf } from "./helper/phases-of.ts";
import { say } from "./helper/say.ts";

/** What the vault says when it has waited for the log in vain. */
const NO_ANSWER = /no (acknowledgement|answer) in \d+ ms/;
const confirm = { verb: "confirm-holds", requester: "usr-law", approvers: ["usr-a", "usr-b"] };

/** Of values and of keys. @returns puts it back, of a vault that is stopped */
function copied({ config, root }: VaultFixture): () => void {
  const folders = [config.dataDir, config.keysDir].map(
    (folder, at) => [folder, join(root, `copy-${at}`)] as const,
  );
  for (const [folder, copy] of folders)
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith("serving") });
  return () => {
    for (const [folder, copy] of folders) {
      rmSync(folder, { recursive: true });
      cpSync(copy, folder, { recursive: true });
    }
  };
}

/** Nothing was refused, and the log is whole. */
async function isSound(t: Tap, auditd: AuditdFixture): Promise<void> {
  await auditd.settled();
  t.equal(
    (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.rejected").length,
    0,
    "auditd refused nothing",
  );
  t.match(await verified(auditd), {
    verdicts: { COMPLETENESS: { verdict: "PASS" } },
    findings: { operations: { open: 0, overdue: 0 } },
  });
}
type Tap = Pick<typeof t, "equal" | "match">;

/** A second life in the log has begun, and what the first had under way is at its end. */
const isSettled = (vault: VaultFixture) => async () =>
  (await atRest(vault)()) && (await vault.status()).holdsInDoubt;

t.test(
  "an erasure that the log has ended since takes values and keys once more, and says nothing",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    for (const subject of ["usr-1", "usr-2", "usr-3"]) await say(gate, subject, "10.0.0.1");
    await until(async () => (await vault.status()).sealed === 3);
    const mended = await damagedSegment(auditd, vault, gate);
    await vault.start();
    await until(async () => (await vault.status()).connected);
    t.match(await vault.ask(erase("usr-1")), { error: { code: "spool_blocked" } });
    await vault.stop("SIGKILL");
    const putBack = copied(vault);
    await mended();
    await vault.start();
    await until(atRest(vault));
    await until(isSaidSo(auditd, "privacy.erasure", "requested, completed ok, fact"));
    t.match(await vault.status(), { sealed: 2, erased: 1 });
    await vault.stop();
    putBack();
    await vault.start();
    await until(isSettled(vault));
    t.match(
      await vault.status(),
      { sealed: 2, erased: 1, keys: 2, fault: null },
      "before anybody confirmed a hold",
    );
    t.same(await phasesOf(auditd, "privacy.erasure"), ["requested, completed ok, fact"]);
    t.match(await vault.ask(confirm), { holds: 0 });
    t.match(await vault.ask(erase("usr-2")), { confirmed: true });
    t.notMatch(vault.output, NO_ANSWER, "nothing holds it up");
    const lines = await vault.askAll(disclosing(auditd));
    t.match(lines.at(-1), { end: { opened: 0, erased: 2 } }, "the place of the outcome is known");
    await vault.stop();
    await vault.start();
    await until(atRest(vault));
    await isSound(t, auditd);
  },
);

t.test("an erasure that the log has as failed destroys nothing", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  await say(gate, "usr-1", "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 1);
  const mended = await damagedSegment(auditd, vault, gate);
  await vault.start();
  await until(async () => (await vault.status()).connected);
  t.match(await vault.ask(erase("usr-1")), { error: { code: "spool_blocked" } });
  t.match(await vault.ask(setHold()), { holds: ["case-7"] });
  await vault.stop("SIGKILL");
  const putBack = copied(vault);
  await mended();
  await vault.start();
  await until(
    async () => (await phasesOf(auditd, "privacy.erasure"))[0] === "requested, denied legal_hold",
  );
  await vault.stop();
  putBack();
  await vault.start();
  await until(isSettled(vault));
  t.match(await vault.status(), { sealed: 1, erased: 0, keys: 1, holds: 1 });
  t.same(await phasesOf(auditd, "privacy.erasure"), ["requested, denied legal_hold"]);
  await isSound(t, auditd);
});

t.test(
  "an erasure that was put back to before its confirmation is not confirmed twice",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    await say(gate, "usr-1", "10.0.0.1");
    await until(async () => (await vault.status()).sealed === 1);
    t.match(await vault.ask(erase("usr-1")), { confirmed: true });
    await auditd.settled();
    await vault.stop();
    // As it stood when the log had the outcome and had not acknowledged it yet.
    const db = new Database(join(vault.config.dataDir, "sealed.sqlite"));
    db.exec(`DELETE FROM outbox WHERE phase = 'fact';
    UPDATE outbox SET idx = NULL, origin = NULL, leaf_hash = NULL WHERE phase = 'completed';
    UPDATE meta SET value = (SELECT max(pseq) FROM outbox) WHERE name = 'pseq';
    UPDATE acts SET state = 'completed';`);
    db.close();
    await vault.start();
    await until(isSettled(vault));
    await auditd.settled();
    t.same(await phasesOf(auditd, "privacy.erasure"), ["requested, completed ok, fact"]);
    t.match((await vault.askAll(disclosing(auditd))).at(-1), { end: { opened: 0, erased: 1 } });
    await isSound(t, auditd);
  },
);

t.test("what retention has ended since goes once more", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  for (const subject of ["usr-1", "usr-2"]) await say(gate, subject, "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 2);
  const mended = await damagedSegment(auditd, vault, gate);
  backdate(auditd.root, "usr-1");
  await auditd.control({ verb: "clock-is-right" });
  await vault.start();
  await until(async () => (await phasesOf(auditd, "privacy.retention")).length === 1);
  await until(async () => (await vault.status()).fault?.code === "spool_blocked");
  await vault.stop("SIGKILL");
  const putBack = copied(vault);
  await mended();
  await vault.start();
  await until(atRest(vault));
  t.match(await vault.status(), { sealed: 1, erased: 1 });
  await vault.stop();
  putBack();
  await vault.start();
  await until(isSettled(vault));
  t.match(await vault.status(), { sealed: 1, erased: 1, keys: 1, fault: null });
  t.same(await phasesOf(auditd, "privacy.retention"), ["requested, completed ok"]);
  await isSound(t, auditd);
});

/** A copy of a vault that waits for auditd's word on its request. */
async function copiedWhileAsking(
  auditd: AuditdFixture,
  vault: VaultFixture,
  request: object,
): Promise<() => void> {
  process.kill(auditd.pid, "SIGSTOP");
  const asked = vault.ask(request);
  await until(async () => (await vault.status()).underWay === 1);
  const putBack = copied(vault);
  process.kill(auditd.pid, "SIGCONT");
  await asked;
  return putBack;
}

t.test("a hold stands as the log has it: set, or lifted", async (t) => {
  // Else what waits for auditd may be the vault's own look for what there is to seal, and the request behind it.
  const [auditd, vault] = await startedBoth(t, { pollMs: 1_000 });
  for (const [request, holds] of [
    [setHold(), 1],
    [liftHold(), 0],
  ] as const) {
    const putBack = await copiedWhileAsking(auditd, vault, request);
    t.match(await vault.status(), { holds });
    await vault.stop();
    putBack();
    await vault.start();
    await until(isSettled(vault));
    t.match(await vault.status(), { holds, fault: null });
  }
  t.same(await phasesOf(auditd, "privacy.hold"), [
    "requested, completed ok",
    "requested, completed ok",
  ]);
  await isSound(t, auditd);
});

t.test("a hold that the log has as failed is none", async (t) => {
  const [auditd, vault] = await startedBoth(t, { pollMs: 1_000 });
  process.kill(auditd.pid, "SIGSTOP");
  const asked = vault.askAll(setHold()).catch(() => []);
  await until(async () => (await vault.status()).underWay === 1);
  await vault.stop("SIGKILL");
  await asked;
  const putBack = copied(vault);
  process.kill(auditd.pid, "SIGCONT");
  await vault.start();
  await until(atRest(vault));
  await until(
    async () => (await phasesOf(auditd, "privacy.hold"))[0] === "requested, failed interrupted",
  );
  await vault.stop();
  putBack();
  await vault.start();
  await until(isSettled(vault));
  t.match(await vault.status(), { holds: 0, fault: null });
  t.same(await phasesOf(auditd, "privacy.hold"), ["requested, failed interrupted"]);
  await isSound(t, auditd);
});

t.test("a disclosure that the log has ended since counts as one", async (t) => {
  const [auditd, vault] = await startedBoth(t, { pollMs: 1_000 });
  await using gate = await gateOf(auditd);
  await say(gate, "usr-1", "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 1);
  // Has its turn once what was sealed is taken over for good.
  t.match(await vault.ask({ ...setHold(), subject: "usr-2" }), {
    error: { code: "step_up_nonce" },
  });
  const putBack = await copiedWhileAsking(auditd, vault, disclosing(auditd));
  await vault.stop();
  putBack();
  await vault.start();
  await until(isSettled(vault));
  t.same(await phasesOf(auditd, "privacy.disclose"), ["requested, completed ok"]);
  t.match(await vault.ask(confirm), { holds: 0 });
  t.match(await vault.ask(erase("usr-1")), { confirmed: true, handedOut: 1 });
  await isSound(t, auditd);
});

t.test("an outcome that auditd refuses ends its act: nobody waits for it again", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  for (const subject of ["usr-1", "usr-2"]) await say(gate, subject, "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 2);
  t.match(await vault.ask(erase("usr-1")), { confirmed: true });
  await auditd.settled();
  await vault.stop();
  // The numbers are those of the log: only what was done is forgotten, and no life begins.
  const db = new Database(join(vault.config.dataDir, "sealed.sqlite"));
  db.exec(
    `UPDATE outbox SET op = 'none' WHERE phase <> 'requested'; UPDATE acts SET state = 'destroyed';`,
  );
  db.close();
  await vault.start();
  await until(atRest(vault));
  t.match(await vault.ask(erase("usr-2")), { confirmed: true });
  t.notMatch(vault.output, NO_ANSWER, "nothing holds it up");
  await auditd.settled();
  t.equal(
    (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.rejected").length,
    1,
  );
  t.match(
    (await vault.askAll(disclosing(auditd))).at(-1),
    { end: { opened: 0 } },
    "the others are told of",
  );
});
