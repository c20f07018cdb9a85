/**
 * No test judges by a clock, and none sleeps in the hope that something has happened: both fail on a busy machine. What a test does instead stands
 * in docs/developer/tests-and-proofs.md.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { findUnsteady } from "./helper/find-unsteady.ts";
import { STEADY_EXCEPTIONS } from "./helper/steady-exceptions.ts";

const repository = join(import.meta.dirname, "..", "..");
const found = globSync(["*/test/**/*.ts", "parts/*/test/**/*.{ts,py}", "house/src/**/*.ts"], {
  cwd: repository,
  exclude: ["node_modules/**", "dev/test/steady-tests.test.ts"],
}).flatMap((file) =>
  findUnsteady(readFileSync(join(repository, file), "utf8")).map((one) => ({ file, ...one })),
);
const excepted = STEADY_EXCEPTIONS.flatMap(({ where }) =>
  Object.entries(where).flatMap(([file, texts]) => texts.map((text) => `${file}: ${text}`)),
);

t.test("no test waits by a sleep or judges by a clock, but for a reason", async (t) => {
  t.same(
    found.flatMap(({ file, line, text }) =>
      excepted.includes(`${file}: ${text}`) ? [] : [`${file}:${line} ${text}`],
    ),
    [],
  );
  const there = new Set(found.map(({ file, text }) => `${file}: ${text}`));
  t.same(
    excepted.filter((one) => !there.has(one)),
    [],
    "an exception goes with what it was for",
  );
});

t.test("what is unsteady is found, and what only ends a hang is not", async (t) => {
  for (const unsteady of [
    "t.setTimeout(240_000);",
    "page.setDefaultTimeout(15_000);",
    "for (const deadline = Date.now() + 10_000; !isOver(); await sleep(20))\n  look();",
    "await sleep(500);",
    "await setTimeout(GRACE_MS + 1_000);",
    "await page.waitForTimeout(500);",
    "await new Promise((resolve) => setTimeout(resolve, 300));",
    "for (const n of [1, 2]) {\n  send(n);\n  await sleep(100);\n  look();\n}",
    "t.ok(performance.now() - from < 2_000);",
    "const tookMs = Date.now() - from;\nt.ok(tookMs < 5);",
    "await until(() => existsSync(auditd.config.controlSocket!));",
    'const lines = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\\n") : []);',
    'const lines = () =>\n  existsSync(file)\n    ? readFileSync(file, "utf8").trim().split("\\n")\n    : [];',
    "return { ms: performance.now() - from };\nt.ok(\n  waited.ms < 5,\n);",
    "const sent = await page.waitForRequest(/tasks/);",
    'await page.waitForEvent("download");',
    'await page.getByRole("button").click();\nt.equal(await page.locator("tr").count(), 2);',
    'await page\n  .getByRole("button")\n  .click();\nt.notOk(\n  await page.locator("form").isVisible(),\n);',
    "await page.goto(address);\nt.match(page.url(), /sign-in/);",
    'await once(raw.socket, "close");',
    'const closed = once(socket!, "close");',
    "const signal = AbortSignal.timeout(20_000);",
    'await untilFound("a beat", () => beats > 0, 10_000);',
    "async heard(isIt: (answer: Answer) => boolean, withinMs = 10_000): Promise<Answer> {",
    't.test("it ends", { timeout: 30_000 }, async () => {',
    'process.kill(agent.pid ?? 0, "SIGSTOP");',
    "self.assertLess(time.monotonic() - began, 3)",
    "deadline = time.monotonic() + 10",
  ])
    t.equal(findUnsteady(unsteady).length, 1, unsteady);
  for (const steady of [
    "t.setTimeout(600_000);",
    "page.setDefaultTimeout(120_000);",
    "while (!isOver()) await sleep(20);",
    "for (;;) {\n  if (isOver()) break;\n  await sleep(20);\n}",
    "while (tries < 9) {\n  await sleep(20);\n  look();\n}",
    "for (\n  let tries = 0;\n  tries < 9;\n  tries++\n)\n  await sleep(20);",
    "if (Date.now() > deadline) throw new Error();",
    "t.ok(performance.now() - from >= 4_900);",
    "t.ok(Date.parse(at) <= Date.now());",
    "await Promise.all([\n  page.waitForResponse(isPut),\n  box.check(),\n]);",
    "const asked = page.waitForRequest(/tasks/);",
    'await page.getByRole("button").click();\nawait page.locator("tr").waitFor();\nt.equal(await page.locator("tr").count(), 2);',
    'await once(server, "close");',
    "const signal = AbortSignal.timeout(60_000);",
    'await untilFound("a beat", () => beats > 0);',
    "end = time.monotonic() + PATIENCE_S",
  ])
    t.same(findUnsteady(steady), [], steady);
});
