/** Requests that the vault performs: how they are kept, in what words, and who may not approve them. */
import { join } from "node:path";
import type { Requested } from "@resontech/contracts/http-approvals";
import t from "tap";
import {
  answerApproval,
  type Approval,
  findApproval,
  insertApproval,
  listApprovals,
  overdueApprovals,
} from "../../src/approvals/approval-store.ts";
import { asKept } from "../../src/approvals/decisions/as-kept.ts";
import { beneficiaryOf } from "../../src/approvals/decisions/beneficiary-of.ts";
import { summaryOf } from "../../src/approvals/decisions/summary.ts";
import { isSelfAnswered, isSigned } from "../../src/approvals/decisions/who-signs.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { insertPerson } from "../../src/identity/bucket-store.ts";
import { findSignature, keepSignature } from "../../src/identity/sign-in/step-up-signatures.ts";

const SIGNED = {
  erasure: { kind: "erasure", subject: "u_1", request: "req-1", legalBasis: "gdpr-17" },
  hold: { kind: "hold", subject: "u_1", hold: "case-7" },
  lift: { kind: "lift", subject: "u_1", hold: "case-7" },
  disclosure: {
    ...{ kind: "disclosure", shard: "2026", subjects: ["u_2", "u_1"], receiver: "auditor-3" },
  },
} as const satisfies Record<string, Requested>;
const ALL: Requested[] = Object.values(SIGNED).map((one) =>
  one.kind === "disclosure" ? { ...one, subjects: [...one.subjects] } : one,
);

t.test("what is signed, by whom, and who gains", async (t) => {
  t.ok(ALL.every(isSigned));
  t.same(
    ALL.filter(({ kind }) => isSelfAnswered(kind)).map(({ kind }) => kind),
    ["hold"],
  );
  t.same(ALL.map(beneficiaryOf), ["u_1", null, "u_1", "auditor-3"]);
  const role = { kind: "role", userId: "u_1", role: "data-steward" } as const;
  t.equal(beneficiaryOf({ ...role, change: "grant" }), "u_1");
  t.equal(beneficiaryOf({ ...role, change: "revoke" }), null);
  t.equal(beneficiaryOf({ kind: "second-factor", userId: "u_1" }), "u_1");
  t.same(
    ALL.slice(1).map((one) => summaryOf(asKept(one), "auditor-3")),
    [
      "nothing of u_1 in the audit log is erased while the legal hold case-7 stands",
      "the legal hold case-7 of u_1 ends",
      "auditor-3 gets what the entries of u_1, u_2 in shard 2026 of the audit log hold",
    ],
  );
});

t.test(
  "requests that the release before does not know are hidden from it, and are answered like any",
  async (t) => {
    const database = openDatabase(join(t.testdir(), "coordinator.db"));
    t.teardown(() => database[Symbol.dispose]());
    const { read, write } = database;
    insertPerson(write, { userId: "u_olga", username: "olga", now: 1 });
    const rowOf = (what: Requested): Approval => ({
      ...{ id: `a_${what.kind}`, what, requesterId: "u_olga", projectId: null },
      ...{ state: "requested", deciderId: null, reason: null, singlePerson: false },
      ...{ createdAt: 1, expiresAt: 10, decidedAt: null },
    });
    const rows = ALL.map(rowOf);
    for (const row of rows) insertApproval(write, row);
    t.same(
      read.prepare<[], { kind: string }>("SELECT kind FROM approvals").all(),
      [{ kind: "erasure" }],
      "as the release before reads them",
    );
    const byId = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    t.same(listApprovals(read, "all", 10), byId);
    t.same(listApprovals(read, [{ userId: "u_other" }], 10), []);
    t.equal(overdueApprovals(read, 10).length, rows.length);
    for (const { id } of rows) {
      const mine = { approval: id, by: "u_olga", answer: "request" } as const;
      const signature = { ...mine, salt: "00", token: "a.b.c", signedAt: 2 };
      t.equal(keepSignature(write, signature), true, id);
      t.same(findSignature(read, mine), signature);
      const answer = {
        state: "approved",
        deciderId: "u_olga",
        reason: null,
        decidedAt: 3,
      } as const;
      t.equal(answerApproval(write, id, answer), true);
      t.equal(answerApproval(write, id, answer), false, "once");
      t.match(findApproval(read, id), { state: "approved", deciderId: "u_olga" });
      t.equal(
        keepSignature(write, { ...signature, token: "d.e.f" }),
        false,
        "what was signed stays",
      );
    }
  },
);
