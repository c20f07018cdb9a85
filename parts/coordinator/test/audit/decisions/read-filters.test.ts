import t from "tap";
import { readFilters } from "../../../src/audit/decisions/read-filters.ts";

type Asked = Parameters<typeof readFilters>[0];

t.test("what can match nothing is refused, and what is allowed is listed", async (t) => {
  for (const [asked, said] of [
    [{ type: "job.sumbit" }, /job\.submit/],
    [{ type: "jobs" }, /job\.\*/],
    [{ phase: "done" }, /requested, completed/],
    [{ kind: "file" }, /job, /],
    [{ op: "17" }, /UUID/],
    [{ outcome: "not found" }, /ok, refused/],
    [{ object: "bucket/key" }, /holds object\.id/],
    [{ object: "*" }, /job-7f\*/],
    [{ concerns: "Anna Smith" }, /pseudonym/],
    [{ approval: "a b" }, /approval's id/],
    [{ below: "bucket/jobs/study" }, /a slash at its end/],
    [{ below: "/jobs/study/" }, /a slash at its end/],
    [{ holds: "pii.name=anna" }, /pii\.username/],
    [{ holds: "username" }, /FIELD=VALUE/],
    [{ holds: "src.addr=10.0.0.0/8" }, /at most 256/],
    [{ holds: "src.addr=10.0.0.300" }, /0 to 255/],
    [{ holds: "src.addr=localhost" }, /IPv6/],
  ] as [Asked, RegExp][])
    t.throws(
      () => readFilters(asked),
      { name: "SearchRefused", message: said },
      JSON.stringify(asked),
    );
  t.notMatch(
    (() => {
      try {
        readFilters({ holds: "username=anna" });
        return "";
      } catch (error) {
        return String(error);
      }
    })(),
    /anna/,
    "a personal value is not said again",
  );
});

t.test("refused is no code but all that was refused, within the other filters", async (t) => {
  t.same(readFilters({ outcome: "refused", actor: "k_1" }), {
    filters: { actor: "k_1" },
    any: [{ refused: true }],
  });
  t.same(readFilters({ outcome: "quota_exceeded" }), {
    filters: { outcome: "quota_exceeded" },
    any: [{}],
  });
});

t.test(
  "a range of addresses is looked up address by address; an id may be told by its beginning",
  async (t) => {
    t.same(readFilters({ holds: "src.addr=10.0.0.9/30", type: "job.submit" }), {
      filters: { type: "job.submit" },
      any: [{}],
      holdsAny: [8, 9, 10, 11].map((last) => `src.addr=10.0.0.${last}`),
    });
    t.same(readFilters({ holds: "src.addr=fe80::1" }).holdsAny, ["src.addr=fe80::1"]);
    t.same(readFilters({ object: "job-7f*" }).filters, { objectPrefix: "job-7f" });
    t.same(readFilters({ objectsOf: "job-1" }).any, [{ objectsOf: "job-1" }]);
  },
);
