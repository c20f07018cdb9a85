import t from "tap";
import { describeFailure, listFailures } from "../tests/tap-failure.ts";

t.test("a failure is told with its name and what tap said", async (t) => {
  t.equal(
    describeFailure({ fullname: "a > b", diagnostics: { found: 3, wanted: 4 } }),
    "not ok a > b\n  { found: 3, wanted: 4 }",
  );
  t.equal(describeFailure({ fullname: "a > b", diagnostics: null }), "not ok a > b\n  null");
});

t.test("a long output keeps its beginning and its end, however deep it lies", async (t) => {
  const output = `begins here\n${"x".repeat(100_000)}\nAssertionError: 1 != 2\nFAILED (failures=1)`;
  const told = describeFailure({ fullname: "a", diagnostics: { all: [{ output }] } });
  t.match(told, "begins here");
  t.match(told, /\[9\d{4} characters left out\]/);
  t.match(told, "AssertionError: 1 != 2");
  t.match(told, "FAILED (failures=1)");
  t.ok(told.length < 4000);
});

t.test("one of very many lines does not hide what else a run says", async (t) => {
  const told = describeFailure({
    fullname: "a",
    diagnostics: { lines: Array.from({ length: 90 }, (_, at) => `line ${at}`.padEnd(130)) },
  });
  t.equal(told.split("\n").length, 61);
});

t.test("all failures are listed in a line each, and those beyond twenty are counted", async (t) => {
  const failure = (fullname: string) => ({ fullname, diagnostics: null });
  t.equal(listFailures([failure("a >\n  b"), failure("c")]), "not ok a > b\nnot ok c");
  const [line = "", ...others] = listFailures(
    Array.from({ length: 23 }, () => failure("x".repeat(1_000))),
  ).split("\n");
  t.equal(line.length, 407);
  t.equal(others.length, 20);
  t.equal(others.at(-1), "and 3 more");
});
