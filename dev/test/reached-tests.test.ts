import t from "tap";
import { reachedTests } from "../tests/reached-tests.ts";

const tests = [
  "acceptance/test/federated-job.test.ts",
  "audit/test/format/tree/merkle.test.ts",
  "audit/test/producer/producer.engines.test.ts",
  "cli/test/audit.engines.test.ts",
  "policies/test/realm.test.ts",
];
const imports = new Map<string, readonly string[]>([
  ["audit/src/format/tree/merkle.ts", []],
  ["parts/auditd/src/auditd.ts", ["audit/src/format/tree/merkle.ts"]],
  ["parts/auditd/src/main.ts", ["parts/auditd/src/auditd.ts"]],
  ["parts/auditd/test/helper/auditd-fixture.ts", []],
  ["audit/test/format/tree/merkle.test.ts", ["audit/src/format/tree/merkle.ts"]],
  ["audit/test/producer/producer.engines.test.ts", ["parts/auditd/test/helper/auditd-fixture.ts"]],
  ["cli/test/audit.engines.test.ts", ["cli/test/server.ts"]],
  ["cli/test/server.ts", ["parts/auditd/test/helper/auditd-fixture.ts"]],
  ["policies/test/realm.test.ts", []],
]);
const programs = new Map([
  ["parts/auditd/test/helper/auditd-fixture.ts", ["parts/auditd/src/main.ts"]],
]);
const reached = (...changed: string[]): string[] =>
  reachedTests({ changed, imports, programs, tests });

t.test(
  "a change reaches the tests that import it, and those that start a program made of it, through whatever helper",
  async (t) => {
    t.same(reached("parts/auditd/src/auditd.ts"), [tests[0], tests[2], tests[3]]);
    t.same(reached("audit/src/format/tree/merkle.ts"), tests.slice(0, 4));
  },
);

t.test("a test's own change reaches that test alone", async (t) => {
  t.same(reached("audit/test/format/tree/merkle.test.ts"), [
    "audit/test/format/tree/merkle.test.ts",
  ]);
});

t.test(
  "a file that nothing imports reaches its room, and the installed appliance where it ships",
  async (t) => {
    t.same(reached("policies/realm.json"), [tests[0], "policies/test/realm.test.ts"]);
    t.same(reached("audit/test/format/vectors/a.json"), [tests[1], tests[2]]);
  },
);

t.test("what decides how tests run reaches all of them, a document none", async (t) => {
  for (const file of ["package-lock.json", "dev/test.ts", ".taprc"])
    t.same(reached(file), tests, file);
  t.same(reached("docs/decisions/0001-a.md", "README.md", "audit/README.md"), []);
});

t.test("a source's change reaches what reads the sources of every room", async (t) => {
  const readers = [
    "exported-names",
    "import-rules",
    "mutual-folders",
    "room-exports",
    "steady-tests",
    "stop-order",
  ].map((name) => `dev/test/${name}.test.ts`);
  const changed = ["cli/src/sign-in/read-token.ts"];
  t.same(reachedTests({ changed, imports, programs, tests: [...tests, ...readers] }), [
    tests[0],
    "cli/test/audit.engines.test.ts",
    ...readers,
  ]);
});

t.test("every change reaches what reads documents and sources alike", async (t) => {
  const documents = "dev/test/documents.test.ts";
  const among = [...tests, documents];
  for (const changed of ["docs/operator/disks.md", "README.md", "policies/test/realm.test.ts"])
    t.ok(
      reachedTests({ changed: [changed], imports, programs, tests: among }).includes(documents),
      changed,
    );
  t.same(reachedTests({ changed: [], imports, programs, tests: among }), []);
});
