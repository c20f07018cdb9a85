import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import t from "tap";
import type { AuditProducer } from "@resontech/audit/producer";
import { exportLog } from "@resontech/audit/export";
import { commitmentsOf } from "@resontech/audit/format/event/event-rules";
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { DisclosureLine } from "@resontech/contracts/vault-control";
import { until } from "@resontech/audit/testing/until";
import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { OFFICER, PEOPLE, STEWARD } from "@resontech/audit/testing/step-up-people";
import { disclosing, erase, liftHold, setHold } from "./helper/privacy-requests.ts";
import { filesHolding } from "./helper/files-holding.ts";
import { gateOf, startedBoth } from "./helper/started-both.ts";
import { say } from "./helper/say.ts";
import type { VaultFixture } from "./helper/vault-fixture.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

const VERIFIER = shippedProgram("sov-verify");
const privacyOf = async (auditd: AuditdFixture) => {
  const leaves = await readLeaves(auditd.logDir);
  return leaves.flatMap((event, index) =>
    event.type.startsWith("privacy.") ? [{ index, ...event }] : [],
  );
};

/** Exports with what was disclosed, and lets the offline verifier judge it. */
async function verified(
  auditd: AuditdFixture,
  gate: AuditProducer,
  lines: readonly DisclosureLine[],
) {
  const file = join(auditd.root, "export.tar");
  const { index } = await gate.fact({
    ...{
      type: "key.list",
      op: crypto.randomUUID(),
      actor: { sub: "usr-x", kind: "user" },
      object: { kind: "user", id: "usr-x" },
    },
  });
  await gate.covered(index);
  await exportLog({
    ...{ logDir: auditd.logDir, file },
    disclose: async ({ from, to }) =>
      lines
        .filter((line) => line.index >= from && line.index < to)
        .map((line) => JSON.stringify(sorted(line))),
  });
  const { stdout } = spawnSync(
    process.execPath,
    [VERIFIER, file, "--policy", auditd.config.policyFile, "--json"],
    {
      encoding: "utf8",
    },
  );
  return JSON.parse(stdout).verdicts.DISCLOSURES;
}

const sorted = (line: object): object =>
  Object.fromEntries(
    Object.entries(line)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, typeof value === "object" ? sorted(value as object) : value]),
  );

const linesOf = async (vault: VaultFixture, request: object) => {
  const all = await vault.askAll(request);
  return { lines: all.slice(0, -1) as unknown as DisclosureLine[], end: all.at(-1) };
};

t.test(
  "an erasure ends what opens a subject's commitments, on record, and the verifier bears it out",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const said = [];
    for (let n = 0; n < 12; n++)
      said.push(await say(gate, n % 2 === 0 ? "usr-gone" : "usr-kept", `canary-erasure-${n}`));
    await until(async () => (await vault.status()).sealed === 12);
    const before = await linesOf(vault, disclosing(auditd, ["usr-gone", "usr-kept"]));
    t.match(before.end, { end: { opened: 12, erased: 0 } });
    t.match(await verified(auditd, gate, before.lines), {
      verdict: "PASS",
      reason: /^12 values open/,
    });

    // Out of reach of an erasure, and told as such: `handedOut`.
    rmSync(join(auditd.root, "export.tar"));
    // Not drained yet: it is part of what is erased.
    await say(gate, "usr-gone", "canary-erasure-last");
    const reply = await vault.ask(erase("usr-gone"));
    t.match(reply, {
      erased: [{ origin: `box.audit.acme/${auditd.currentSlug}`, count: 7 }],
      handedOut: 1,
      confirmed: true,
    });
    t.match(await vault.status(), { erased: 7, underWay: 0, fault: null });
    t.ok((await vault.status()).sealed >= 6);

    const gone = said.filter(({ subject }) => subject === "usr-gone");
    for (const { salt } of gone) {
      t.same(filesHolding(auditd.root, Buffer.from(salt, "hex")), []);
      t.same(filesHolding(auditd.root, salt), []);
    }
    const after = await linesOf(vault, disclosing(auditd, ["usr-gone", "usr-kept"]));
    t.match(after.end, { end: { opened: 6, erased: 7 } });
    t.match(await verified(auditd, gate, after.lines), {
      verdict: "PASS",
      reason: /^6 values open.* 7 are ERASED/,
    });

    const leaves = (await privacyOf(auditd)).filter(({ type }) => type === "privacy.erasure");
    t.match(leaves, [
      {
        phase: "requested",
        object: { id: "usr-gone" },
        detail: {
          ...{ requester: STEWARD.by, approvers: [OFFICER.by], legal_basis: "gdpr-17" },
          ...{ approval: /^a_/, signatures: { length: 2 }, single_person: false },
        },
      },
      { phase: "completed", outcome: { code: "ok" }, detail: { handed_out: 1 } },
      { phase: "fact", detail: { request: "req-1" } },
    ]);
    t.equal(new Set(leaves.map(({ op }) => op)).size, 1);
    t.ok(
      Number(leaves[2]!.detail?.["looked_for"]) >= 7 * 3,
      "it looked for salts, keys and sealed values",
    );
    const all = await readLeaves(auditd.logDir);
    const frontier = new Frontier();
    for (const [index, event] of all.entries())
      if (event.object.id === "usr-gone" && event.src?.addr !== undefined)
        frontier.append(
          hashLeaf(
            Buffer.from(`${index}\nsrc.addr\n${commitmentsOf(event as never).get("src.addr")}`),
          ),
        );
    t.match(leaves[1]!.detail?.["erased"], [
      { commitments_count: 7, commitments_root: frontier.root().toString("hex") },
    ]);
  },
);

t.test(
  "it takes the signatures of two people for this very erasure, once, and no legal hold",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    await say(gate, "usr-1", "10.0.0.1");
    await until(async () => (await vault.status()).sealed === 1);
    const refusal = async (changes: object) =>
      (await vault.ask({ ...erase("usr-1"), ...changes }))["error"];
    const { approval } = erase("usr-1");
    const twice = PEOPLE.proof(
      { kind: "erasure", subject: "usr-1", request: "req-1", legalBasis: "gdpr-17" },
      { requester: OFFICER, approver: OFFICER },
    );
    t.match(await refusal({ approval: twice }), { code: "approver_is_requester" });
    t.match(await refusal({ approval: { ...approval, approved: null } }), {
      code: "approval_single",
    });
    t.match(await refusal({ subject: "usr-2" }), { code: "step_up_nonce" });
    t.match(await refusal({ approvers: ["usr-a", "usr-b"] }), { code: "request_invalid" });
    t.match(await refusal({ approval: undefined }), { code: "request_invalid" });
    t.match(await refusal(erase("anonymous")), { code: "subject_anonymous" });
    t.match(await refusal({ more: true }), { code: "request_invalid" });
    t.match(await vault.ask(setHold()), { holds: ["case-7"] });
    t.match((await vault.ask(setHold()))["error"], { code: "hold_exists" });
    t.match(await refusal({}), { code: "legal_hold" });
    const until2030 = "2030-01-01T00:00:00.000Z";
    t.match(
      await vault.ask({
        verb: "refuse",
        subject: "usr-1",
        request: "req-1",
        legalBasis: "gdpr-17-3-e",
        until: until2030,
        requester: "usr-dpo",
      }),
      { op: String },
    );
    t.match((await vault.ask(liftHold("usr-2")))["error"], { code: "hold_unknown" });
    t.match(await vault.ask(liftHold()), { holds: [] });
    const once = erase("usr-1");
    t.match(await vault.ask(once), { confirmed: true });
    t.match(await vault.ask(once), { error: { code: "approval_used" } });
    const leaves = await until(async () => (await privacyOf(auditd)).length >= 8).then(() =>
      privacyOf(auditd),
    );
    t.same(
      leaves.map(({ type, phase }) => `${type} ${phase}`),
      [
        ...["privacy.hold requested", "privacy.hold completed", "privacy.refusal fact"],
        ...["privacy.hold requested", "privacy.hold completed"],
        ...["privacy.erasure requested", "privacy.erasure completed", "privacy.erasure fact"],
      ],
      "no act is opened by what was refused",
    );
    t.match(leaves[2], { detail: { legal_basis: "gdpr-17-3-e", until: until2030 } });
  },
);

t.test("killed at any moment, an erasure comes to its end once, by itself", async (t) => {
  const [auditd, vault] = await startedBoth(t, { pollMs: 10 });
  await using gate = await gateOf(auditd);
  const rounds = 10;
  let undisturbedMs = 0;
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < 20; n++) await say(gate, `usr-${round}`, `10.${round}.0.${n}`);
    const askedAt = performance.now();
    const asked = vault.ask(erase(`usr-${round}`)).catch(() => null);
    if (round === 0) {
      await asked;
      undisturbedMs = performance.now() - askedAt;
      continue;
    }
    await sleep(((round - 1) / (rounds - 2)) * 1.5 * undisturbedMs);
    const isAuditd = round % 3 === 2;
    await (isAuditd ? auditd : vault).stop("SIGKILL");
    await asked;
    await (isAuditd ? auditd : vault).start();
    await until(() => gate.connected);
  }
  await until(async () => {
    const status = await vault.status();
    return status.connected && status.underWay === 0;
  }, 20_000);
  t.equal((await vault.status()).fault, null);
  await until(() => readdirSync(join(auditd.logDir, "disclosures")).length === 0);
  await auditd.settled();
  const leaves = (await privacyOf(auditd)).filter(({ type }) => type === "privacy.erasure");
  const ops = Map.groupBy(leaves, ({ op }) => op);
  let completed = 0;
  for (const phases of ops.values()) {
    const said = phases.map(({ phase }) => phase).join(" ");
    t.ok(["requested completed fact", "requested failed"].includes(said), said);
    if (!said.startsWith("requested completed")) continue;
    completed += 1;
    t.match(phases[1]!.detail?.["erased"], [{ commitments_count: 20 }]);
  }
  t.equal((await vault.status()).erased, completed * 20);
  t.equal(
    (await vault.status()).sealed,
    (rounds - completed) * 20,
    "nothing is sealed again after it was erased",
  );
  t.ok(completed > 1, `${completed} of ${rounds} were completed`);
  const { lines } = await linesOf(vault, disclosing(auditd, ["usr-0"]));
  t.match(await verified(auditd, gate, lines), { verdict: "PASS" });
});

t.test("while auditd is away nothing is erased, disclosed or held", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  const gate = await gateOf(auditd);
  await say(gate, "usr-1", "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 1);
  await gate.close();
  await auditd.stop();
  await until(async () => !(await vault.status()).connected);
  for (const request of [erase("usr-1"), disclosing(auditd), setHold()]) {
    const lines = await vault.askAll(request);
    t.match(lines, [{ error: { code: "audit_unavailable" } }]);
  }
  t.match(await vault.status(), { sealed: 1, erased: 0, holds: 0, keys: 1, underWay: 0 });
  await auditd.start();
  await until(async () => (await vault.status()).connected);
  t.match(await vault.ask(erase("usr-1")), { confirmed: true });
});

t.test(
  "while auditd hangs, whoever asks for something is told so, and nothing is done",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    process.kill(auditd.pid, "SIGSTOP");
    for (const request of [
      setHold(),
      disclosing(auditd),
      setHold(),
      disclosing(auditd),
      setHold(),
    ]) {
      t.match(
        await vault.ask(request),
        { error: { code: "audit_unavailable" } },
        `${request.verb}, and auditd hangs still`,
      );
    }
    process.kill(auditd.pid, "SIGCONT");
    await until(async () => (await vault.status()).underWay === 0);
    t.match(await vault.status(), { holds: 0 });
    // Though nobody asks for anything more.
    const isOpen = async () => {
      const ops = Map.groupBy(await privacyOf(auditd), ({ op }) => op);
      return [...ops.values()].some((leaves) => leaves.length !== 2);
    };
    await until(async () => (await privacyOf(auditd)).length > 0 && !(await isOpen()));
    t.ok(
      (await privacyOf(auditd)).every(
        ({ phase, outcome }) => phase === "requested" || outcome?.code === "audit_timeout",
      ),
    );
  },
);

t.test("a database that was put back to an older state begins a new life in the log", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  const hold = (name: string) => setHold("usr-1", name);
  t.match(await vault.ask(hold("case-1")), { holds: ["case-1"] });
  await vault.stop();
  const file = join(vault.config.dataDir, "sealed.sqlite");
  const older = readFileSync(file);
  await vault.start();
  await until(async () => (await vault.status()).connected);
  t.match(await vault.ask(hold("case-2")), { holds: ["case-1", "case-2"] });
  await vault.stop();
  writeFileSync(file, older);
  await vault.start();
  await until(async () => (await vault.status()).connected);
  // Its number is taken: the request is refused, or brought to the log in the new life.
  await vault.ask(hold("case-3"));
  await until(async () => (await vault.status()).connected);
  t.match(await vault.ask(hold("case-4")), { holds: /case-4/ });
  const lives = async () =>
    (await readLeaves(auditd.logDir)).filter(
      ({ type, object }) => type === "audit.producer.start" && object.id === "vault",
    );
  await until(async () => (await lives()).length > 1);
  t.equal((await lives()).length, 2);
});

t.test(
  "a database that was put back destroys nothing until two people have confirmed its legal holds",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    for (const subject of ["usr-1", "usr-2"]) await say(gate, subject, "10.0.0.1");
    await until(async () => (await vault.status()).sealed === 2);
    await vault.stop();
    const file = join(vault.config.dataDir, "sealed.sqlite");
    for (const [path, table] of [
      [file, "commitments"],
      [join(vault.config.keysDir, "keys.sqlite"), "keys"],
    ] as const) {
      const db = new Database(path);
      db.prepare(`UPDATE ${table} SET month = '2020-01' WHERE subject = 'usr-1'`).run();
      db.close();
    }
    const older = readFileSync(file);
    await auditd.control({ verb: "clock-is-right" });
    // Nothing is overdue before the hold stands.
    vault.config.retention = { leavesYears: 7, disclosuresMonths: 1_200, anonymousMonths: 1_200 };
    vault.writeConfig();
    await vault.start();
    await until(async () => (await vault.status()).connected);
    t.match(await vault.ask(setHold()), { holds: ["case-7"] });
    await vault.stop();
    writeFileSync(file, older);
    vault.config.retention = { leavesYears: 7, disclosuresMonths: 24, anonymousMonths: 24 };
    vault.writeConfig();
    await vault.start();
    await until(
      async () => (await vault.status()).holdsInDoubt && (await vault.status()).connected,
    );
    await sleep(500);
    t.match(await vault.status(), { sealed: 2, erased: 0, holds: 0, underWay: 0, fault: null });
    t.match(await vault.ask(erase("usr-2")), { error: { code: "holds_in_doubt" } });
    await vault.stop();
    await vault.start();
    await until(async () => (await vault.status()).connected);
    t.match(await vault.status(), { holdsInDoubt: true }, "another start does not forget it");
    const unproven = { ...({ verb: "hold-unproven" } as const), subject: "usr-1", hold: "case-7" };
    t.match(await vault.ask({ ...unproven, requester: "usr-law" }), { holds: ["case-7"] });
    const confirm = { verb: "confirm-holds", requester: "usr-law", approvers: ["usr-a", "usr-b"] };
    t.match(await vault.ask({ ...confirm, approvers: ["usr-a", "usr-law"] }), {
      error: { code: "approver_is_requester" },
    });
    t.match(await vault.ask(confirm), { holds: 1 });
    t.match(await vault.ask(confirm), { error: { code: "holds_not_in_doubt" } });
    t.match(await vault.ask(erase("usr-1")), { error: { code: "legal_hold" } });
    t.match(await vault.ask(erase("usr-2")), { confirmed: true });
    await sleep(300);
    t.match(await vault.status(), { sealed: 1, erased: 1 }, "what is held is kept, however old");
  },
);

t.test(
  "of two equal requests for a hold one is granted, and a late one to lift it takes no other's",
  async (t) => {
    const [, vault] = await startedBoth(t);
    const answers = await Promise.all([vault.ask(setHold()), vault.ask(setHold())]);
    t.match(
      answers.toSorted((a, b) => Number("error" in a) - Number("error" in b)),
      [{ holds: ["case-7"] }, { error: { code: "hold_exists" } }],
    );
    const lifts = await Promise.all([vault.ask(liftHold()), vault.ask(liftHold())]);
    t.match(
      lifts.toSorted((a, b) => Number("error" in a) - Number("error" in b)),
      [{ holds: [] }, { error: { code: "hold_unknown" } }],
    );
    t.match(await vault.ask(setHold("usr-2")), { holds: ["case-7"] });
    t.match(await vault.ask(liftHold()), { error: { code: "hold_unknown" } });
    t.match(await vault.status(), { holds: 1, underWay: 0 });
  },
);
