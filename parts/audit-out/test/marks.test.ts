/** By what an entry is found beside its envelope: people whom it is about, its approval, a refusal, an administrator's act. */
import { randomUUID } from "node:crypto";
import t from "tap";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import type { EventFilter } from "../src/search/event-filter.ts";
import { approvalOf, marksOf } from "../src/search/marks-of-event.ts";
import { SearchIndex } from "../src/search/search-index.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { UNMARKED } from "./helper/indexed-tokens.ts";

const event = (over: object): AuditEvent =>
  ({
    ...{ type: "iam.project.member", phase: "completed", object: { kind: "project", id: "p_1" } },
    ...over,
  }) as AuditEvent;

t.test(
  "an entry is about whose rights changed, who asked and who agreed; what was typed counts, what is none does not",
  async (t) => {
    t.same(
      marksOf(event({ detail: { member: "u_1", approvers: ["u_2", "u_3"], requester: "u_2" } })),
      [...["concerns u_1", "concerns u_2", "concerns u_3"]],
    );
    t.same(marksOf(event({ object: { kind: "user", id: "u_9" }, detail: { role: "auditor" } })), [
      "concerns u_9",
    ]);
    t.same(
      marksOf(
        event({ detail: { claimed: { requester: "u_1", approvers: ["u_2"], proof: "unproven" } } }),
      ),
      ["concerns u_1", "concerns u_2"],
    );
    t.same(marksOf(event({ detail: { claimed: "u_1", approvers: "u_2", member: 7 } })), []);
    const handover = { change: "handover", from: "u_1", to: "u_2" };
    t.same(marksOf(event({ type: "iam.project.change", detail: handover })), [
      "concerns u_1",
      "concerns u_2",
    ]);
    t.same(marksOf(event({ type: "admin.rename", detail: { from: "old", to: "new" } })), []);
    t.same(
      marksOf(
        event({
          type: "model.calls",
          detail: { called: [{ deployment: "job-1" }, { deployment: "job-1" }] },
        }),
      ),
      ["deployment job-1"],
    );
    t.equal(approvalOf(event({ detail: { approval: "a_1" } })), "a_1");
    t.equal(approvalOf(event({ object: { kind: "approval", id: "a_2" } })), "a_2");
    t.equal(approvalOf(event({})), null);
  },
);

t.test(
  "any of several filters finds each entry once, in the log's order, up to the limit",
  async (t) => {
    const index = new SearchIndex(temporaryFolder(t), (reason) => t.fail(reason));
    t.teardown(() => index[Symbol.dispose]());
    const row = (over: object) => ({
      ...{ ...UNMARKED, atMs: 0, type: "key.list", prod: "p", phase: "fact", op: randomUUID() },
      ...{ sub: "k_1", onBehalfOf: null, kind: "user", object: "u_1", outcome: null, ...over },
    });
    const op = randomUUID();
    index.add("2026", 0, [
      row({ isRefused: true, type: "auth.refused" }),
      row({ type: "job.submit", op, object: "log", phase: "requested" }),
      row({ type: "job.accepted", op, object: "job-1" }),
      row({ approval: "a_1", marks: ["concerns u_7"] }),
      row({ isByAdministrator: true, isRefused: true, approval: "a_1", marks: ["concerns u_7"] }),
      row({ onBehalfOf: "u_7" }),
    ]);
    const order = "oldest";
    const found = (filters: Omit<EventFilter, "order">[], limit = 10): number[] =>
      index
        .findAny(
          filters.map((filter) => ({ ...filter, order })),
          index.spanOf("2026", { order })!,
          limit,
        )
        .map(({ index: at }) => at);
    t.same(found([{ refused: "1" }]), [0, 4]);
    t.same(found([{ refused: "1" }, { type: "job.submit" }, { administrator: "1" }]), [0, 1, 4]);
    t.same(found([{ refused: "1" }, { type: "job.submit" }, { type: "key.list" }], 3), [0, 1, 3]);
    t.same(found([{ opsOf: "job-1" }]), [1, 2], "who asked for the job, when it had no id yet");
    t.same(found([{ mark: "concerns u_7" }]), [3, 4]);
    t.same(found([{ mark: "concerns u_7", refused: "1" }]), [4]);
    t.same(found([{ on_behalf_of: "u_7" }, { mark: "concerns u_7" }]), [3, 4, 5]);
    t.same(found([{ approval: "a_1", sub: "k_2" }]), [], "within what the caller may see");
    t.same(found([{ approval: "a_1", sub: "k_1", mark: "concerns u_7" }]), [3, 4]);
    for (const filter of [{ refused: "1" }, { administrator: "1" }, { approval: "a_1" }] as const)
      t.match(index.planOf({ ...filter, order }), /USING INDEX/, JSON.stringify(filter));
  },
);

t.test("outcomes that some entry has are known, and each once", async (t) => {
  const index = new SearchIndex(temporaryFolder(t), (reason) => t.fail(reason));
  t.teardown(() => index[Symbol.dispose]());
  t.same(index.outcomes, []);
  const names = { type: "key.list", prod: "p", phase: "fact", sub: "k", kind: "user", object: "u" };
  const row = (outcome: string | null) => ({
    ...{ ...UNMARKED, ...names, atMs: 0, op: randomUUID(), onBehalfOf: null, outcome },
  });
  index.add("2026", 0, ["ok", null, "ok", "AccessDenied", "interrupted", "ok"].map(row));
  t.same(index.outcomes, ["AccessDenied", "interrupted", "ok"]);
});
