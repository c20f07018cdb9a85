import t from "tap";
import { filesToTryAgain, judgeSecondTry } from "../tests/second-try.ts";

const files = ["a.engines.test.ts", "b.engines.test.ts", "c.engines.test.ts", "d.engines.test.ts"];
const failure = (fullname: string) => ({ fullname, diagnostics: null });
const [a1, a2, b] = [
  failure("a.engines.test.ts > one > should be equal"),
  failure("a.engines.test.ts > two > should be equal"),
  failure("b.engines.test.ts"),
];

t.test("a file of engines that failed is tried again once, whatever failed in it", async (t) => {
  t.same(filesToTryAgain("engines", [a1, a2, b], files), files.slice(0, 2));
  t.same(filesToTryAgain("engines", [], files), []);
});

t.test("what only decides is not tried again", async (t) => {
  t.same(filesToTryAgain("unit", [a1], files), []);
});

t.test("no file is tried again where four failed, or where a failure names none", async (t) => {
  t.same(filesToTryAgain("engines", files.map(failure), files), []);
  t.same(filesToTryAgain("engines", [a1, failure("a timeout")], files), []);
});

t.test("who passes alone is unsteady; who fails again keeps its first failure", async (t) => {
  const first = { passed: 10, skipped: 0, failures: [a1, a2, b] };
  t.same(judgeSecondTry(first, { passed: 4, skipped: 0, failures: [b], status: 1 }, files), {
    ...{ failures: [b], unsteady: [a1, a2] },
  });
});

t.test("a second try that was killed, or in which nothing ran, excuses nothing", async (t) => {
  const first = { passed: 10, skipped: 0, failures: [a1] };
  for (const again of [
    { passed: 3, skipped: 0, failures: [], status: 1 },
    { passed: 0, skipped: 0, failures: [], status: 0 },
  ])
    t.same(judgeSecondTry(first, again, files), { failures: [a1], unsteady: [] });
});
