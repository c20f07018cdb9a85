import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import t from "tap";
import { REPORTS } from "../src/audit/reports.ts";
import { type Filters, queriesOf } from "../src/audit/search-query.ts";

t.test("what can match nothing is refused, and what is allowed is listed", async (t) => {
  for (const [filters, said] of [
    [{ type: "job.sumbit" }, /job\.submit/],
    [{ type: "jobs" }, /job\.\*/],
    [{ phase: "done" }, /requested, completed/],
    [{ kind: "file" }, /job, /],
    [{ op: "17" }, /UUID/],
    [{ object: "bucket/key" }, /--holds object\.id/],
    [{ holds: "pii.name=anna" }, /pii\.username/],
    [{ holds: "username" }, /FIELD=VALUE/],
    [{ holds: "src.addr=10.0.0.0/8" }, /at most 256/],
    [{ holds: "src.addr=10.0.0.300" }, /0 to 255/],
    [{ holds: "src.addr=localhost" }, /IPv6/],
    [{ from: "yesterday" }, /2026-11-25/],
    [{ to: "2026-02-30" }, /2026-11-25/],
  ] as [Filters, RegExp][])
    t.throws(
      () => queriesOf(filters),
      { code: "search_invalid", hint: said },
      JSON.stringify(filters),
    );
});

t.test("a folder is named with its bucket and ends with a slash", async (t) => {
  for (const below of ["bucket/", "bucket/jobs/study/"]) t.same(queriesOf({ below }), [{ below }]);
  for (const below of ["bucket", "/jobs/study/", "bucket/jobs/study", ""])
    t.throws(
      () => queriesOf({ below }),
      { code: "search_invalid", hint: /a slash at its end/ },
      below,
    );
});

t.test("a report on a job wants its whole id, and says so", async (t) => {
  const ask = () => REPORTS.job.queries("job-7f*").flatMap(queriesOf);
  t.throws(ask, {
    code: "search_invalid",
    message: 'the job "job-7f*" can match no entry',
    hint: "It is a job's id like job-7f3a.",
  });
});

t.test("days are whole in UTC, and times may have an offset", async (t) => {
  t.same(queriesOf({ from: "2026-11-25", to: "2026-11-25" }), [
    { from: "2026-11-25T00:00:00.000Z", to: "2026-11-26T00:00:00.000Z" },
  ]);
  t.same(queriesOf({ from: "2026-11-25T01:30:00+02:00" }), [{ from: "2026-11-24T23:30:00.000Z" }]);
});

t.test("a range of addresses is looked up address by address", async (t) => {
  const found = queriesOf({ holds: "src.addr=10.0.0.9/30", type: "job.submit" });
  t.same(
    found.map(({ holds }) => holds),
    ["src.addr=10.0.0.8", "src.addr=10.0.0.9", "src.addr=10.0.0.10", "src.addr=10.0.0.11"],
  );
  t.ok(found.every(({ type }) => type === "job.submit"));
  t.same(queriesOf({ holds: "src.addr=fe80::1" }), [{ holds: "src.addr=fe80::1" }]);
});

t.test(
  "refused finds the phase denied and every type that tells of a refusal, within the other filters",
  async (t) => {
    const found = queriesOf({ outcome: "refused", actor: "k_1" });
    t.match(found[0], { phase: "denied", actor: "k_1" });
    t.ok(
      found
        .slice(1)
        .every(({ type, outcome, actor }) => (type ?? outcome) !== undefined && actor === "k_1"),
    );
    t.same(queriesOf({ outcome: "refused", type: "job.submit" }), [
      { type: "job.submit", phase: "denied" },
      { type: "job.submit", outcome: "AccessDenied" },
    ]);
    t.same(queriesOf({ object: "job-7f*" }), [{ objectPrefix: "job-7f" }]);
    t.throws(() => queriesOf({ object: "*" }), { code: "search_invalid" });
  },
);

t.test("every report asks for types that there are", async (t) => {
  const types: readonly string[] = EVENT_TYPES;
  for (const [name, { queries }] of Object.entries(REPORTS))
    for (const query of queries("job-1")) {
      t.ok(query.type === undefined || types.includes(query.type), `${name} ${query.type}`);
      t.doesNotThrow(() => queriesOf(query), name);
    }
});
