import type { AuditEvent } from "@resontech/contracts/audit-draft";
import t from "tap";
import { OperationPairs } from "../../src/evidence/operations/operation-pairs.ts";
import { questionsAnswered } from "../../src/evidence/operations/questions-answered.ts";
import { isWithin, overlaps } from "@resontech/audit/export/log-period";

type Said = Partial<Omit<AuditEvent, "detail">> & { detail?: Record<string, unknown> };
const event = (said: Said): AuditEvent => ({
  ...({ v: 1, id: "i", op: "op-1", type: "iam.role.change", phase: "requested" } as const),
  ...{ t: "2026-03-01T00:00:00.000Z", t_log: "2026-03-01T00:00:00.000Z", boot: "b", pseq: 1 },
  ...{ prod: "coordinator-record", actor: { sub: "u_admin", kind: "user" } },
  ...{ object: { kind: "user", id: "u_1" }, schema_sha256: "0".repeat(64) },
  ...said,
});
const at = (index: number, shard = "2026") => ({ shard, index, hash: "" });

t.test("a request and its outcome are one line with who, what, how long and by whose word", (t) => {
  const pairs = new OperationPairs();
  const detail = { role: "compliance-auditor", change: "grant", approval: "ap_1" };
  t.same(pairs.note(event({ detail }), at(3)), []);
  const [operation, ...more] = pairs.note(
    event({
      ...{ phase: "completed", t_log: "2026-03-01T00:00:01.250Z", outcome: { code: "ok" } },
      detail: { requester: "u_ask", approvers: ["u_yes"] },
    }),
    at(9, "2027"),
  );
  t.same(more, []);
  t.match(operation, {
    ...{ entry: at(3), outcome: at(9, "2027"), durationMs: 1_250, result: "done", code: "ok" },
    ...{ asker: "u_ask", approvers: ["u_yes"], approval: "ap_1", actor: { sub: "u_admin" } },
    detail: { ...detail, requester: "u_ask" },
  });
  t.same(questionsAnswered(operation!), ["rights", "administrators"]);
  t.same(pairs.open, []);
  t.end();
});

t.test("two types of one operation stay apart, and a fact is a line of its own", (t) => {
  const pairs = new OperationPairs();
  pairs.note(event({ type: "job.submit" }), at(0));
  pairs.note(event({}), at(1));
  t.match(pairs.note(event({ type: "job.accepted", phase: "fact" }), at(2)), [
    { entry: at(2), outcome: null, durationMs: null, result: "recorded" },
  ]);
  t.match(pairs.note(event({ phase: "denied", outcome: { code: "no" } }), at(3)), [
    { type: "iam.role.change", result: "refused", isRefused: true },
  ]);
  t.match(pairs.open, [{ type: "job.submit", result: "open", outcome: null, endedAt: null }]);
  t.end();
});

t.test("who only said who he was is named by the outcome; a typed name is claimed", (t) => {
  const pairs = new OperationPairs();
  pairs.note(
    event({ actor: { sub: "unproven", kind: "anonymous" }, detail: { claimed: "u_9" } }),
    at(0),
  );
  t.match(pairs.note(event({ phase: "completed", actor: { sub: "u_9", kind: "key" } }), at(1)), [
    { actor: { sub: "u_9", kind: "key" }, claimed: "u_9" },
  ]);
  const claimed = { requester: "u_dpo", approvers: ["u_a"], proof: "unproven" };
  t.match(pairs.note(event({ phase: "fact", detail: { claimed } }), at(2)), [
    { claimed: "asker u_dpo; approver u_a", asker: "", approvers: [] },
  ]);
  t.end();
});

t.test("a request of a shard that was not read is taken from what the next one restates", (t) => {
  const pairs = new OperationPairs();
  const detail = {
    type: "job.submit",
    prod: "coordinator-gate",
    logged_at: "2026-12-31T23:59:59.000Z",
  };
  pairs.note(event({ type: "audit.op.carried", phase: "fact", op: "op-7", detail }), at(1, "2027"));
  const ended = event({
    ...{ type: "job.submit", phase: "completed", op: "op-7", outcome: { code: "ok" } },
    ...{ t_log: "2027-01-01T00:00:01.000Z", object: { kind: "job", id: "job-1" } },
  } as const);
  t.match(pairs.note(ended, at(5, "2027")), [
    {
      ...{ entry: at(1, "2027"), outcome: at(5, "2027"), durationMs: 2_000 },
      ...{ source: "coordinator-gate", actor: { sub: "u_admin" }, object: { id: "job-1" } },
    },
  ]);
  t.end();
});

t.test("periods side by side share no moment, and a shard is read when they meet", (t) => {
  const [from, to] = ["2026-06-01T00:00:00.000Z", "2026-07-01T00:00:00.000Z"];
  t.ok(isWithin({ from, to }, from));
  t.notOk(isWithin({ from, to }, to));
  const span = (first: string | null, last: string | null) => ({ slug: "2026", first, last });
  t.ok(overlaps({ from, to }, span("2026-01-01T00:00:00.000Z", from)));
  t.notOk(overlaps({ from, to }, span(to, "2026-12-31T00:00:00.000Z")));
  t.notOk(overlaps({ from, to: null }, span(null, null)));
  t.end();
});
