import t from "tap";
import { describeRun, evaluateRun, type RunReport } from "../tests/report-run.ts";
import { judge } from "../tests/run-tests.ts";

const FILE = "a/test/x.engines.test.ts";
const failure = { fullname: `${FILE} > adds`, diagnostics: { found: 1 } };
const outcome = {
  ...{ passed: 5, skipped: 0, failures: [], byFile: new Map(), rawFile: "raw" },
  wallSeconds: 9,
  makers: new Set<string>(),
  costs: [{ file: FILE, cpuSeconds: 10, partsSeconds: 2, wallSeconds: 3 }],
};
const verdict = { digest: "d", passed: 7, skipped: 0, at: 0 };
const report = (changes: Partial<RunReport> = {}): RunReport => ({
  ...{ outcomes: new Map([["engines", outcome]]), cached: new Map(), leftovers: [] },
  ...{
    shared: new Map([
      ["build", 4],
      [FILE, 2],
    ]),
    cpuSeconds: 20,
  },
  ...{ isWhole: true, isBusy: false, mayBeNothing: false },
  ...changes,
});

t.test("a run ends with what passed and failed; what was cached is told apart", async (t) => {
  t.match(evaluateRun(report()), { isGood: true, closing: "5 passed, 0 failed" });
  t.match(evaluateRun(report({ cached: new Map([["b", verdict]]) })), {
    ...{ isGood: true, closing: "5 passed, 0 failed, 7 cached" },
  });
});

t.test("failures, leftovers and files over their budget make a run bad", async (t) => {
  const failed = new Map([["engines" as const, { ...outcome, failures: [failure] }]]);
  t.match(evaluateRun(report({ outcomes: failed })), { isGood: false, failed: 1 });
  t.match(evaluateRun(report({ leftovers: ["a folder"] })), { isGood: false, failed: 1 });
  const costs = [{ file: FILE, cpuSeconds: 61, partsSeconds: 0, wallSeconds: 3 }];
  const dear = report({ outcomes: new Map([["engines", { ...outcome, costs }]]) });
  t.match(evaluateRun(dear), { isGood: false, closing: "5 passed, 1 failed" });
  t.match(describeRun(dear, evaluateRun(dear)).at(-1), /61\.0 s of CPU/);
  t.match(evaluateRun({ ...dear, isBusy: true }), { isGood: true });
  const making = { ...outcome, costs, makers: new Set([FILE]) };
  t.match(evaluateRun(report({ outcomes: new Map([["engines", making]]) })), { isGood: true });
});

t.test("a run in which nothing ran is bad, unless nothing could be reached", async (t) => {
  t.equal(evaluateRun(report({ outcomes: new Map() })).isGood, false);
  t.equal(evaluateRun(report({ outcomes: new Map(), mayBeNothing: true })).isGood, true);
  t.equal(
    evaluateRun(report({ outcomes: new Map(), cached: new Map([["b", verdict]]) })).isGood,
    true,
  );
});

t.test("a part of one file is not told as one that several share", async (t) => {
  const said = describeRun(report(), evaluateRun(report())).join("\n");
  t.match(said, "    4.0  build");
  t.match(said, "    4.0  the run itself");
});

t.test("a process that ended badly, or a file that asserts nothing, is a failure", async (t) => {
  const good = "TAP version 14\nok 1 - adds\n1..1\n";
  const namesOf = (tap: string, fault: string | null, files = [FILE]) =>
    [...judge({ tap, said: "", fault }, files).values()].flatMap(({ failures }) =>
      failures.map(({ fullname }) => fullname),
    );
  t.same(namesOf(good, null), []);
  t.same(namesOf(good, "ended with 1"), [`${FILE} > ended with 1`]);
  t.same(namesOf("", null), [`${FILE} > it asserts nothing`]);
  t.same(namesOf("", "was ended by SIGKILL"), [`${FILE} > was ended by SIGKILL`]);
  const one = `TAP version 14\n# Subtest: a\n    ok 1 - x\n    1..1\nok 1 - a\n`;
  t.same(namesOf(one, "ended with 13", ["a", "b"]), ["b > ended with 13"]);
});
