/** What the door's refusals leave in the log. */
import { composeEvent } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import t from "tap";
import { type Source, Trail } from "../../src/audit/trail.ts";
import type { Record } from "../../src/decisions/records.ts";

const refused = (path: string): Record => ({
  ...{ type: "data.object.refused", name: "GetObject", target: { kind: "object", path } },
  outcome: { code: "AccessDenied", status: 403 },
  detail: { bucket: "b_1", status: 403, code: "AccessDenied" },
});
const from = (address: string): Source => ({
  asker: { actor: { sub: "unproven", kind: "anonymous" }, claimed: "u_1" },
  ...{ address, userAgent: "boto3" },
});

t.test("a refusal that repeats itself is one record a minute with a count", async (t) => {
  const drafts: EventDraft[] = [];
  const producer = {
    append: async (draft: EventDraft, disclosures = [] as never[]) => {
      composeEvent(draft, { boot: "test", pseq: drafts.push(draft) }, disclosures);
      return { index: 0, leafHash: "" };
    },
    ...{ connected: true, status: async () => ({}) as never },
  };
  const trail = new Trail(producer, (error) => t.fail(String(error)));
  for (let count = 0; count < 20; count += 1) await trail.fact(refused("a/x"), from("10.0.0.1"));
  await trail.fact(refused("a/y"), from("10.0.0.1"));
  await trail.fact(refused("a/x"), from("10.0.0.2"));
  t.equal(drafts.length, 3, "each object and each address has its own");
  t.strictSame(drafts[0]?.detail, {
    ...{ bucket: "b_1", status: 403, code: "AccessDenied", claimed: "u_1" },
  });
  const read: Record = { ...refused("a/x"), type: "data.object.read" };
  for (let count = 0; count < 2; count += 1) await trail.fact(read, from("10.0.0.1"));
  t.equal(drafts.length, 5, "what was given out is never counted");
  await trail[Symbol.asyncDispose]();
  t.match(drafts.slice(5), [
    {
      ...{ type: "data.object.refused", action: "S3 GetObject" },
      outcome: { code: "AccessDenied" },
      detail: { claimed: "u_1", code: "AccessDenied", count: 19, window_s: 1 },
    },
  ]);
  t.equal(drafts.length, 6);
});
