import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import t, { type Test } from "tap";
import { judge } from "../tests/run-tests.ts";
import { runTestProcess } from "../tests/test-process.ts";

const repository = join(import.meta.dirname, "..", "..");
const HOST = join(repository, "dev", "tests", "test-host.ts");

/**
 * Runs these as files of one process. @param limitS seconds that each may take
 * @returns the names of their failures, those that began, and the lines of costs
 */
async function hosted(t: Test, sources: Record<string, string>, limitS = 600) {
  // Below this room, so that the files find tap.
  mkdirSync(join(repository, ".cache"), { recursive: true });
  const dir = mkdtempSync(join(repository, ".cache", "hosted-"));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const files = Object.entries(sources).map(([name, text]) => {
    const path = join(dir, name);
    writeFileSync(path, `import t from "tap";\n${text}\n`);
    return relative(repository, path);
  });
  const costs = join(dir, "costs");
  const begun: string[] = [];
  const end = await runTestProcess([HOST], {
    cwd: repository,
    limitS,
    onFile: async (file) => void begun.push(basename(file)),
    env: { ...process.env, RT_TEST_FILES: files.join(":"), RT_TEST_CPU_FILE: costs },
    onStart: () => {},
  });
  const failures = [...judge(end, files).values()].flatMap((summary) => summary.failures);
  return {
    begun,
    names: failures.map(({ fullname }) => fullname.replaceAll(`${relative(repository, dir)}/`, "")),
    noted: readFileSync(costs, "utf8").trimEnd().split("\n").length,
  };
}

t.test("each file's tests run as its own, and its costs are noted", async (t) => {
  const { names, noted, begun } = await hosted(t, {
    "a.test.ts": `t.test("adds", async (t) => t.equal(1 + 1, 2));`,
    "b.test.ts": `t.test("fails", async (t) => t.equal(1, 2));`,
    "c.test.ts": `const { value } = await Promise.resolve({ value: 3 }); t.equal(value, 3);`,
  });
  t.same(names, ["b.test.ts > fails > should be equal"]);
  t.equal(noted, 3);
  t.same(begun, ["a.test.ts", "b.test.ts", "c.test.ts"]);
});

t.test("each file has its own limit, and all together have none", async (t) => {
  const own = `t.equal(t.options.timeout, 77_000); t.equal(t.parent.options.timeout, undefined);`;
  const { names } = await hosted(t, { "a.test.ts": own, "b.test.ts": own }, 77);
  t.same(names, []);
});

t.test("what a file leaves behind is its failure, and the next one does not see it", async (t) => {
  const { names } = await hosted(t, {
    "a.test.ts": `t.test("a", async (t) => { process.env.LEFT = "1"; process.umask(0o77); t.pass(); });`,
    "b.test.ts": `t.test("b", async (t) => { t.equal(process.env.LEFT, undefined); t.equal(process.umask(), 0o22); });`,
    "c.test.ts": `t.test("c", async (t) => { setInterval(() => {}, 1_000); t.pass(); });`,
    "d.test.ts": `t.test("d", async (t) => { process.chdir("/"); t.pass(); });`,
    "e.test.ts": `t.test("e", async (t) => { process.on("SIGUSR2", () => {}); t.not(process.cwd(), "/"); });`,
    "f.test.ts": `t.test("f", async (t) => { t.pass(); process.exit(0); });`,
  });
  t.match(names, [
    "a.test.ts > leaves the process as it was: umask 77, environment LEFT",
    "c.test.ts > leaves the process as it was: 1 Timeout",
    "d.test.ts > leaves the process as it was: works in /",
    "e.test.ts > leaves the process as it was: 1 listening for SIGUSR2",
  ]);
});

t.test("a file that throws, and one that never ends, fail by name", async (t) => {
  const { names } = await hosted(t, {
    "a.test.ts": `throw new Error("at the top");`,
    "b.test.ts": `t.test("b", async (t) => { await new Promise(() => {}); });`,
    "c.test.ts": `t.test("c", async (t) => t.pass());`,
  });
  t.ok(
    names.some((name) => name.startsWith("a.test.ts > at the top")),
    names.join("\n"),
  );
  t.ok(
    names.some((name) => name.startsWith("b.test.ts")),
    names.join("\n"),
  );
  t.ok(
    names.some((name) => name.startsWith("c.test.ts > ")),
    "a file that nobody came to has not passed",
  );
});
