import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import { joinPackages } from "../tests/join-packages.ts";

const repository = join(import.meta.dirname, "..", "..");
const PRELOAD = pathToFileURL(join(repository, "dev", "tests", "joined-packages.mjs")).href;
const installed = JSON.parse(
  readFileSync(join(repository, "node_modules", "typebox", "package.json"), "utf8"),
) as { exports: object };
/** Prints what each import of typebox has, whether they fit each other, and how many of its modules were loaded. */
const PROGRAM = `
import { registerHooks } from "node:module";
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
const names = {};
for (const key of ${JSON.stringify(Object.keys(installed.exports))})
  names[key] = Object.keys(await import("typebox" + key.slice(1))).sort();
const { Type } = await import("typebox");
const { Value } = await import("typebox/value");
const { Compile } = await import("typebox/compile");
const schema = Type.Object({ size: Type.Integer({ minimum: 1 }) }, { additionalProperties: false });
const judged = [{ size: 1 }, { size: 0 }, { size: 1, more: 2 }, {}].map((value) => [
  Value.Check(schema, value),
  Compile(schema).Check(value),
  Value.Errors(schema, value),
]);
const modules = loaded.filter((url) => url.includes("typebox"));
console.log(JSON.stringify({ names, judged, modules }));
`;

function ran(program: string, joined: string | null) {
  const { RT_TEST_JOINED: _, ...env } = process.env;
  const output = execFileSync(process.execPath, [`--import=${PRELOAD}`, program], {
    encoding: "utf8",
    env: joined === null ? env : { ...env, RT_TEST_JOINED: joined },
  });
  return JSON.parse(output) as { names: unknown; judged: unknown; modules: string[] };
}

t.test("a joined package is what the package is, in a few modules", async (t) => {
  // Below this tree, so that the program finds the package.
  const into = t.testdir();
  const joined = await joinPackages(repository, into);
  const program = join(into, "program.mjs");
  writeFileSync(program, PROGRAM);
  const [own, few] = [ran(program, null), ran(program, joined)];
  t.ok(own.modules.length > 500, `${own.modules.length} modules`);
  t.ok(few.modules.length < 30, `${few.modules.length} modules`);
  t.ok(few.modules.every((url) => url.startsWith(pathToFileURL(joined).href)));
  t.same(few.names, own.names);
  t.same(few.judged, own.judged);
});

t.test("packages are joined once, and those of another version go", async (t) => {
  const into = t.testdir({ "typebox-0.0.0_esbuild-0.0.0": { "list.json": "{}" } });
  const joined = await joinPackages(repository, into);
  const madeAt = statSync(join(joined, "list.json")).mtimeMs;
  t.equal(await joinPackages(repository, into), joined);
  t.equal(statSync(join(joined, "list.json")).mtimeMs, madeAt);
  t.same(
    readdirSync(into).map((name) => join(into, name)),
    [joined],
  );
});
