import type { AuditEventRow } from "@resontech/contracts/http-audit";
import t from "tap";
import { JOB_HEAD, jobRows } from "../src/audit/job-rows.ts";

const entry = (index: number, op: string, phase: string, source: string | null): AuditEventRow => ({
  ...{
    shard: "2026",
    index,
    t_log: "2026-11-26T05:00:00.000Z",
    type: "data.object.write",
    prod: "s3-front",
    phase,
    op,
  },
  ...{
    sub: "u_1",
    onBehalfOf: null,
    kind: "object",
    object: "ab".repeat(32),
    outcome: phase === "requested" ? null : "ok",
    approval: null,
    source,
    handle: null,
  },
});

t.test("the end of an operation came from where its beginning did", async (t) => {
  const rows = jobRows([
    entry(1, "a", "requested", "0123456789ab"),
    entry(2, "b", "requested", null),
    entry(3, "a", "completed", null),
  ]);
  const from = JOB_HEAD.indexOf("FROM");
  t.same(
    rows.map((row) => row[from]),
    ["0123456789ab", "-", "0123456789ab"],
  );
  t.ok(rows.every((row) => row.length === JOB_HEAD.length));
  t.equal(rows[0]?.at(-1), "object abababababab*", "what `--object` takes");
});
