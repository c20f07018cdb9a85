/** Changes that are planted in a tree of its own: whose verdict falls. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { testsReachedSince } from "../../tests/changed-since.ts";
import { digestsOf } from "../../tests/digests.ts";
import { readSourceTree } from "../../tests/sight/read-source-tree.ts";

const dir = mkdtempSync(join(tmpdir(), "rt-sight-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));

const room = (name: string, exports: Record<string, string> = {}): string =>
  JSON.stringify({ name: `@resontech/${name}`, exports });
const FILES: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ workspaces: ["audit", "cli", "house", "parts/*", "airgap"] }),
  "package-lock.json": "1",
  ".gitignore": "out\n",
  "README.md": "words",
  "docs/operator/disks.md": "words",
  "dev/tests/run-tests.ts": "export {};",
  "dev/tests/recorded-costs.json": "{}",
  "audit/package.json": room("audit", { "./*": "./src/*.ts" }),
  "audit/src/digest.ts":
    'import { table } from "./table.ts";\nimport type { T } from "./types.ts";',
  "audit/src/table.ts": 'readFileSync(join(import.meta.dirname, "..", "assets", "table.sql"));',
  "audit/src/types.ts": "export type T = string;",
  "audit/src/unused.ts": "export {};",
  "audit/assets/table.sql": "create table a;",
  "audit/test/digest.test.ts": 'import { digest } from "@resontech/audit/digest";',
  "cli/package.json": room("cli"),
  "cli/src/a.ts": "export {};",
  "cli/test/helper/shell.ts": `const NAME = "fixtures";
export const fixtures = join(import.meta.dirname, "..", NAME);`,
  "cli/test/fixtures/a.json": "{}",
  "cli/test/program.engines.test.ts":
    'import { shippedProgram } from "@resontech/house/shipped-program";\nspawn(shippedProgram("auditd"));',
  "cli/test/shell.engines.test.ts":
    'import { fixtures } from "./helper/shell.ts";\nreadFileSync(join(fixtures, name));',
  "cli/test/thread.engines.test.ts": 'new Worker(new URL("../src/a.ts", import.meta.url));',
  "cli/test/whole.test.ts": 'globSync("src/*.ts", { cwd: join(import.meta.dirname, "..") });',
  "house/package.json": room("house", { "./shipped-program": "./src/shipped-program.ts" }),
  "house/src/shipped-program.ts": 'execFileSync(join(import.meta.dirname, "compile-programs.ts"));',
  "house/src/compile-programs.ts": "export {};",
  "airgap/package.json": room("airgap"),
  "airgap/src/release/compile-options.ts": "export {};",
  "airgap/src/release/fixed-values.ts": "export {};",
  "parts/auditd/package.json": room("auditd"),
  "parts/auditd/src/main.ts": 'import { digest } from "@resontech/audit/digest";',
};
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
};
for (const [path, text] of Object.entries(FILES)) write(path, text);
execFileSync("git", ["init", "-q", dir]);
const TESTS = Object.keys(FILES).filter((file) => file.endsWith(".test.ts"));
const digests = async (host?: string): Promise<Map<string, string>> =>
  digestsOf(TESTS, dir, await readSourceTree(dir), host);

/** Names of the tests whose verdict a change takes away. */
async function fallen(change: Record<string, string>, host?: string): Promise<string[]> {
  const before = await digests("host");
  for (const [path, text] of Object.entries(change)) write(path, text);
  const after = await digests(host ?? "host");
  for (const path of Object.keys(change))
    if (FILES[path] === undefined) rmSync(join(dir, path));
    else write(path, FILES[path]);
  return TESTS.filter((test) => before.get(test) !== after.get(test)).map(
    (test) => test.slice(test.lastIndexOf("/") + 1).split(".")[0]!,
  );
}

t.test("a file that is imported, through a room's door too", async (t) => {
  t.same(await fallen({ "audit/src/digest.ts": FILES["audit/src/digest.ts"] + "\n" }), [
    "digest",
    "program",
  ]);
  t.same(await fallen({ "audit/src/unused.ts": "export const a = 1;" }), []);
  t.same(await fallen({ "audit/src/types.ts": "export type T = number;" }), []);
});

t.test("an asset that an imported file reads", async (t) => {
  t.same(await fallen({ "audit/assets/table.sql": "create table b;" }), ["digest", "program"]);
});

t.test("a program that the test starts, and how it is compiled", async (t) => {
  t.same(await fallen({ "parts/auditd/src/main.ts": "export {};" }), ["program"]);
  t.same(await fallen({ "airgap/src/release/compile-options.ts": "changed" }), ["program"]);
  t.same(await fallen({ "cli/src/a.ts": "changed" }), ["thread", "whole"]);
});

t.test("a helper, and what only running code names in a folder of its", async (t) => {
  t.same(await fallen({ "cli/test/helper/shell.ts": FILES["cli/test/helper/shell.ts"] + "\n" }), [
    "shell",
    "whole",
  ]);
  t.same(await fallen({ "cli/test/fixtures/a.json": "[]" }), ["shell", "whole"]);
  t.same(await fallen({ "cli/test/fixtures/new.json": "[]" }), ["shell", "whole"], "a new one");
});

t.test("where a room is read, each file of it", async (t) => {
  t.same(await fallen({ "cli/src/new.ts": "export {};" }), ["whole"]);
});

t.test("the lock file, the runner, Node and the host's packages: all fall", async (t) => {
  const all = ["digest", "program", "shell", "thread", "whole"];
  t.same(await fallen({ "package-lock.json": "2" }), all);
  t.same(await fallen({ "dev/tests/run-tests.ts": "changed" }), all);
  t.same(await fallen({}, "another host"), all);
});

t.test("the door of a room: whoever uses a file of it", async (t) => {
  t.same(await fallen({ "audit/package.json": room("audit", { "./digest": "./src/table.ts" }) }), [
    "digest",
    "program",
  ]);
});

t.test("the test itself: it alone", async (t) => {
  const [own = ""] = TESTS.filter((file) => file.includes("thread"));
  t.same(await fallen({ [own]: `${FILES[own]}\n` }), ["thread", "whole"], "and who reads its room");
});

t.test(
  "a change since a revision reaches the same tests, one that takes a file away too",
  async (t) => {
    const git = (...args: string[]): void => void execFileSync("git", ["-C", dir, ...args]);
    const who = ["-c", "user.name=a", "-c", "user.email=a@a.example"];
    git("add", "-A");
    git(...who, "commit", "-q", "-m", "all");
    const reached = () => testsReachedSince("HEAD", dir, TESTS);
    t.same(await reached(), []);
    rmSync(join(dir, "audit/assets/table.sql"));
    t.same(await reached(), ["audit/test/digest.test.ts", "cli/test/program.engines.test.ts"]);
    git("checkout", "-q", "--", ".");
    write("cli/test/fixtures/new.json", "{}");
    t.same(await reached(), ["cli/test/shell.engines.test.ts", "cli/test/whole.test.ts"]);
    rmSync(join(dir, "cli/test/fixtures/new.json"));
  },
);

t.test("a document, costs, and what git ignores: none falls", async (t) => {
  for (const change of [
    "README.md",
    "docs/operator/disks.md",
    "dev/tests/recorded-costs.json",
    "cli/src/out",
  ])
    t.same(await fallen({ [change]: "changed" }), [], change);
});
