/** The archive that an auditor takes away from a search. */
import t from "tap";
import {
  type FoundEntry,
  type FoundFacts,
  tableOf,
  wordsOf,
} from "../src/pages/audit/found-export.ts";

const ENTRY: FoundEntry = {
  ...{ shard: "2026", index: 7, t_log: "2026-11-26T10:00:00.000Z", type: "job.submit" },
  ...{ prod: "coordinator", phase: "fact", op: "op", sub: "u_1", onBehalfOf: null, kind: "job" },
  ...{
    object: "job-1",
    outcome: "ok",
    approval: null,
    source: null,
    handle: null,
    leafHash: "ab",
    proof: "c2sp",
  },
};
const FACTS: FoundFacts = {
  ...{ askedBy: "otto", origin: "https://box:8000", askedAt: "2026-11-26T10:00:00.000Z" },
  ...{ filters: {}, isCut: false, behind: 0, incomplete: [] },
};

t.test("a table holds a line for each entry, and names its proof", async (t) => {
  const [head, line, end] = tableOf([ENTRY]).split("\r\n");
  t.match(head, /^"t_log","shard",/);
  t.match(line, /"job-1",.*"proofs\/entry-2026-7\.tlog-proof"$/);
  t.equal(end, "");
});

t.test(
  "a value that a spreadsheet would run stays text, and quotes stay in their cell",
  async (t) => {
    const table = tableOf([{ ...ENTRY, object: '=cmd|"x"', sub: "@sum" }]);
    t.match(table, `"'=cmd|""x"""`);
    t.match(table, `"'@sum"`);
  },
);

t.test("the words say the filters, and each reason why entries may be missing", async (t) => {
  t.match(wordsOf(FACTS, 1), /Filters:\r\n {2}none/);
  t.notMatch(wordsOf(FACTS, 1), /missing/);
  const all = { filters: { type: "job.submit" }, isCut: true, behind: 3, incomplete: ["2025"] };
  const words = wordsOf({ ...FACTS, ...all }, 1);
  for (const part of ["type = job.submit", "older ones are missing", "newest 3 entries", "of 2025"])
    t.match(words, part);
});
