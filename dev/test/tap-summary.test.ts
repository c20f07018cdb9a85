import t from "tap";
import { summarizeTap, sumUp } from "../tests/tap-summary.ts";

const stream = `TAP version 14
# Subtest: a/test/one.test.ts
    # Subtest: adds
        ok 1 - should be equal
        not ok 2 - should be equal
          ---
          found: 3
          wanted: 4
          ...
        ok 3 - later # SKIP no such part here
        1..3
        # failed 1 of 3 tests
    not ok 1 - adds # time=12ms
    
    1..1
    # failed 1 test
not ok 1 - a/test/one.test.ts # time=20ms
  ---
  exitCode: 1
  ...

# Subtest: a/test/two.test.ts
    ok 1 - should match pattern
    not ok 2 - timeout!
      ---
      signal: SIGALRM
      ...
    1..2
    # failed 1 of 2 tests
not ok 2 - a/test/two.test.ts # time=300000ms

1..2
# failed 2 of 2 tests
`;

const [ONE, TWO] = ["a/test/one.test.ts", "a/test/two.test.ts"];
const namesOf = (text: string, files: readonly string[]): string[] =>
  sumUp(summarizeTap(text, files).values()).failures.map(({ fullname }) => fullname);

t.test("leaves are counted, and a file is not counted again for what is below it", async (t) => {
  const summaries = summarizeTap(stream, [ONE, TWO]);
  t.match(summaries.get(ONE), { passed: 1, skipped: 1, failures: { length: 1 } });
  t.match(summaries.get(TWO), { passed: 1, skipped: 0, failures: { length: 1 } });
  t.match(sumUp(summaries.values()), { passed: 2, skipped: 1, failures: { length: 2 } });
});

t.test("a failure is named with its file and its test, and keeps what tap said", async (t) => {
  const { failures } = sumUp(summarizeTap(stream, [ONE, TWO]).values());
  t.strictSame(failures, [
    { fullname: `${ONE} > adds > should be equal`, diagnostics: { found: 3, wanted: 4 } },
    { fullname: `${TWO} > timeout!`, diagnostics: { signal: "SIGALRM" } },
  ]);
});

t.test("whose tests stand at the top is named before them", async (t) => {
  const text = `TAP version 14
# Subtest: adds
    not ok 1 - should be equal
    1..1
not ok 1 - adds
not ok 2 - timeout!
1..2
`;
  t.strictSame(namesOf(text, [ONE]), [`${ONE} > adds > should be equal`, `${ONE} > timeout!`]);
});

t.test("what several files left unnamed is told of the first, and nothing gets lost", async (t) => {
  const text = `TAP version 14
# Subtest: ${TWO}
    ok 1 - begins
    1..1
ok 1 - ${TWO}
not ok 2 - timeout!
1..2
`;
  t.strictSame(namesOf(text, [ONE, TWO]), [`${ONE} > timeout!`]);
});

t.test("a directive excuses nothing that failed or is yet to be written", async (t) => {
  const text = `TAP version 14
ok 1 - unwritten # TODO
not ok 2 - planned # TODO later
not ok 3 - large # SKIP no room
1..3
`;
  t.match(summarizeTap(text, [ONE]).get(ONE), { passed: 0, skipped: 0 });
  t.strictSame(
    namesOf(text, [ONE]),
    ["unwritten", "planned", "large"].map((name) => `${ONE} > ${name}`),
  );
});
