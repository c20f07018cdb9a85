import t from "tap";
import { summarizeTap } from "../tests/tap-summary.ts";

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

t.test("leaves are counted, and a file is not counted again for what is below it", async (t) => {
  const { passed, skipped, failures } = summarizeTap(stream);
  t.equal(passed, 2);
  t.equal(skipped, 1);
  t.equal(failures.length, 2);
});

t.test(
  "a failure is named with its file and its test, and keeps what tap said of it",
  async (t) => {
    t.strictSame(summarizeTap(stream).failures, [
      {
        fullname: "a/test/one.test.ts > adds > should be equal",
        diagnostics: { found: 3, wanted: 4 },
      },
      { fullname: "a/test/two.test.ts > timeout!", diagnostics: { signal: "SIGALRM" } },
    ]);
  },
);

t.test("a file that ran out of time is named", async (t) => {
  const { failures } = summarizeTap(`TAP version 14
1..1
# Subtest: a/test/slow.test.ts
    ok 1 - begins
    1..1
not ok 1 - timeout!
  ---
  expired: a/test/slow.test.ts
  ...
`);
  t.strictSame(
    failures.map(({ fullname }) => fullname),
    ["a/test/slow.test.ts > timeout!"],
  );
});

t.test("a directive excuses nothing that failed or is yet to be written", async (t) => {
  const { passed, skipped, failures } = summarizeTap(`TAP version 14
ok 1 - unwritten # TODO
not ok 2 - planned # TODO later
not ok 3 - large # SKIP no room
1..3
`);
  t.equal(passed, 0);
  t.equal(skipped, 0);
  t.strictSame(
    failures.map(({ fullname }) => fullname),
    ["unwritten", "planned", "large"],
  );
});
