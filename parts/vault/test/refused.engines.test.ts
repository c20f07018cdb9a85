/** What an operator asks for and is refused before anything is done leaves one record, durable before the answer. */
import { createHash } from "node:crypto";
import t from "tap";
import { until } from "@resontech/audit/testing/until";
import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { verified } from "@resontech/auditd/testing/verified";
import { OFFICER, STEWARD } from "@resontech/audit/testing/step-up-people";
import { disclosing, erase, liftHold, setHold } from "./helper/privacy-requests.ts";
import { startedBoth } from "./helper/started-both.ts";

const unproven = {
  ...{ verb: "hold-unproven", subject: "usr-1", hold: "case-7", requester: "usr-law" },
};
const confirm = { verb: "confirm-holds", requester: "usr-law", approvers: ["usr-a", "usr-b"] };
const refuse = {
  ...{
    verb: "refuse",
    subject: "usr-1",
    request: "req-1",
    legalBasis: "gdpr-17-3-e",
    requester: "usr-dpo",
  },
  until: "2030-01-01T00:00:00.000Z",
};

/** All that the log has of the vault, `auditd` having covered what is acknowledged. */
async function entriesOf(auditd: AuditdFixture) {
  await auditd.settled();
  return (await readLeaves(auditd.logDir)).filter(({ prod }) => prod === "vault");
}

t.test(
  "each refused request leaves one record that says who asked for what, and why not, before it is answered",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    let known = 0;
    const refused = async (request: object, action: string, reason: string, named: string) => {
      t.match(await vault.ask(request), { error: { code: reason } });
      const said = await entriesOf(auditd);
      t.match(
        said.slice(known),
        [
          {
            ...{ type: "admin.refused", phase: "fact", action },
            ...{ object: { kind: "appliance", id: "vault" } },
            ...([STEWARD.by, OFFICER.by, "appliance"].includes(named)
              ? { actor: { sub: named, kind: "operator" }, detail: { reason } }
              : {
                  actor: { sub: "appliance", kind: "operator" },
                  detail: { reason, claimed: { requester: named, proof: "unproven" } },
                }),
          },
        ],
        `${action}: ${reason}`,
      );
      t.equal(said.length, known + 1, "one record");
      known = said.length;
    };
    const granted = async (request: object) => {
      t.notMatch(await vault.ask(request), { error: {} });
      known = (await entriesOf(auditd)).length;
    };
    const equal = ["usr-a", "usr-a"];
    await refused(
      { ...erase("usr-1"), approval: erase("usr-2").approval },
      ...(["vault erase", "step_up_nonce", "appliance"] as const),
    );
    await refused(erase("anonymous"), "vault erase", "subject_anonymous", STEWARD.by);
    await refused(
      { ...setHold(), approval: setHold("usr-2").approval },
      ...(["vault hold", "step_up_nonce", "appliance"] as const),
    );
    await refused(liftHold(), "vault lift", "hold_unknown", STEWARD.by);
    const held = setHold();
    await granted(held);
    await refused(held, "vault hold", "approval_used", OFFICER.by);
    await refused(setHold(), "vault hold", "hold_exists", OFFICER.by);
    await refused(unproven, "vault hold-unproven", "hold_exists", "usr-law");
    await refused(
      { ...liftHold(), approval: { ...liftHold().approval, approved: null } },
      ...(["vault lift", "approval_single", "appliance"] as const),
    );
    await refused(erase("usr-1"), "vault erase", "legal_hold", STEWARD.by);
    await refused(
      { ...confirm, approvers: equal },
      "vault confirm-holds",
      "approvers_equal",
      "usr-law",
    );
    await refused(confirm, "vault confirm-holds", "holds_not_in_doubt", "usr-law");
    const disclosed = disclosing(auditd);
    await refused(
      { ...disclosed, receiver: "auditor-2" },
      ...(["vault disclose", "step_up_nonce", "appliance"] as const),
    );
    await granted(disclosed);
    await refused(disclosed, "vault disclose", "approval_used", STEWARD.by);
    await refused(
      { ...refuse, until: "2030-02-31T99:00:00.000Z" },
      "vault refuse",
      "request_invalid",
      "usr-dpo",
    );
    await refused(
      { ...erase("usr-1"), approvers: ["usr-a"] },
      ...(["vault erase", "request_invalid", "appliance"] as const),
    );
    for (const asked of [
      { ...unproven, requester: "Ann Smith" },
      { ...unproven, verb: "hold", lift: false, requester: "Ann Smith", approver: "usr-a" },
    ])
      await refused(asked, `vault ${asked.verb}`, "request_invalid", "appliance");
    await refused(
      { verb: "drop-everything", requester: "usr-x" },
      "vault",
      "request_invalid",
      "usr-x",
    );
    await refused(["erase"], "vault", "request_invalid", "appliance");
    t.match(await verified(auditd), {
      verdicts: { INTEGRITY: { verdict: "PASS" }, COMPLETENESS: { verdict: "PASS" } },
    });
  },
);

t.test(
  "a name typed at the host is claimed and unproven in every entry; the actor is who gave the command",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    for (const request of [unproven, refuse]) t.notMatch(await vault.ask(request), { error: {} });
    const host = (requester: string) => ({ claimed: { requester, proof: "unproven" } });
    t.same(
      (await entriesOf(auditd))
        .filter(({ phase }) => phase !== "completed")
        .map(({ type, actor, detail }) => [type, actor.sub, detail]),
      [
        ["privacy.hold", "appliance", { hold: "case-7", lifted: false, ...host("usr-law") }],
        [
          ...["privacy.refusal", "appliance"],
          {
            ...{ request: "req-1", legal_basis: "gdpr-17-3-e", until: refuse.until },
            ...host("usr-dpo"),
          },
        ],
      ],
      "no proven field holds a typed name",
    );
  },
);

t.test(
  "who signed a hold, its lift or a disclosure is its actor, and the entry tells both people and the receiver",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    const signed = [setHold(), liftHold(), disclosing(auditd)] as const;
    for (const request of signed) t.notMatch(await vault.ask(request), { error: {} });
    const said = await entriesOf(auditd);
    const proofOf = ({ approval }: (typeof signed)[number]) => ({
      ...{ approval: approval.approval, requester: approval.requested.by },
      signatures: [approval.requested, approval.approved].flatMap((one) =>
        one === null ? [] : [createHash("sha256").update(one.token).digest("hex")],
      ),
    });
    const [byOfficer, ...byTwo] = signed.map(proofOf);
    const [lifted, opened] = byTwo.map((one) => ({
      ...{ ...one, approvers: [OFFICER.by], single_person: false },
    }));
    t.same(
      said
        .filter(({ phase }) => phase !== "completed")
        .map(({ type, actor, detail }) => [type, actor.sub, detail]),
      [
        ["privacy.hold", OFFICER.by, { hold: "case-7", lifted: false, ...byOfficer }],
        ["privacy.hold", STEWARD.by, { hold: "case-7", lifted: true, ...lifted }],
        ["privacy.disclose", STEWARD.by, { receiver: "auditor-1", ...opened }],
      ],
    );
    t.match(
      said.find(({ type, phase }) => type === "privacy.disclose" && phase === "completed"),
      { actor: { sub: STEWARD.by }, detail: { receiver: "auditor-1", ...opened } },
      "the outcome tells them, too",
    );
  },
);

t.test(
  "what is only read, and a refusal that has a record of its own, leave no second one",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await vault.status();
    await vault.ask({ verb: "health" });
    t.match(await vault.ask(refuse), { op: String });
    t.same(
      (await entriesOf(auditd)).map(({ type }) => type),
      ["privacy.refusal"],
    );
  },
);

t.test(
  "while auditd is away a refusal can't be recorded, and is told as such at once; nothing of it is said later",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await auditd.stop();
    await until(async () => !(await vault.status()).connected);
    for (const request of [{ ...setHold(), subject: "usr-2" }, confirm, ["erase"]]) {
      // Who had waited for it would say that nothing came in 2000 ms.
      t.match(await vault.ask(request), {
        error: { code: "audit_unavailable", message: /refused(?!.*2000 ms)/ },
      });
    }
    await auditd.start();
    await until(async () => (await vault.status()).connected);
    t.match(await vault.ask(setHold()), { holds: ["case-7"] });
    t.notOk((await entriesOf(auditd)).some(({ type }) => type === "admin.refused"));
  },
);

t.test(
  "while auditd hangs a refusal is answered after 2 s, and recorded once it is back",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    process.kill(auditd.pid, "SIGSTOP");
    for (const request of [
      { ...setHold(), subject: "usr-2" },
      confirm,
      { ...erase("usr-1"), approvers: ["usr-a"] },
    ]) {
      t.match(await vault.ask(request), {
        error: { code: "audit_unavailable", message: /refused.*2000 ms/ },
      });
    }
    process.kill(auditd.pid, "SIGCONT");
    await until(async () => (await entriesOf(auditd)).length === 3);
    t.match(
      (await entriesOf(auditd)).map(({ type, detail }) => [type, detail?.["reason"]]),
      [
        ["admin.refused", "step_up_nonce"],
        ["admin.refused", "holds_not_in_doubt"],
        ["admin.refused", "request_invalid"],
      ],
    );
  },
);

t.test(
  "killed before auditd has the record of a refusal, the vault brings it after its next start",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    process.kill(auditd.pid, "SIGSTOP");
    t.match(await vault.ask(confirm), { error: { code: "audit_unavailable" } });
    await vault.stop("SIGKILL");
    process.kill(auditd.pid, "SIGCONT");
    await vault.start();
    await until(async () => (await entriesOf(auditd)).length > 0);
    t.match(await entriesOf(auditd), [
      { type: "admin.refused", detail: { reason: "holds_not_in_doubt" } },
    ]);
  },
);
