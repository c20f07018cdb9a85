import t from "tap";
import { pathsOfSource, RELEASE_APP } from "../../tests/sight/path-values.ts";

const FILE = "parts/door/test/door.engines.test.ts";
const read = (text: string, more: Partial<Parameters<typeof pathsOfSource>[0]> = {}) =>
  pathsOfSource({
    ...{ file: FILE, text, imported: new Map(), resolve: () => null, isCompiled: false },
    ...more,
  });
/** Each path, with `/*` where running code adds to it. */
const paths = (...args: Parameters<typeof read>): string[] =>
  read(...args).paths.map(({ path, isBelow }) => (isBelow ? `${path}/*` : path));

t.test("a path is made of the place where its source stands", async (t) => {
  t.same(paths(`readFileSync(join(import.meta.dirname, "fixtures", "a.json"));`), [
    "parts/door/test/fixtures/a.json",
  ]);
  t.same(paths(`fork(new URL("../src/main.ts", import.meta.url));`), ["parts/door/src/main.ts"]);
  t.same(paths(`resolve(dirname(import.meta.filename), "../../../policies/realm.json");`), [
    "policies/realm.json",
  ]);
  t.same(paths("readFileSync(`${import.meta.dirname}/a.json`);"), ["parts/door/test/*"]);
  t.same(paths(`import.meta.resolve("../src/main.ts");`), ["parts/door/src/main.ts"]);
  t.same(
    paths(`import.meta.resolve("@resontech/door/main");`, { resolve: () => "parts/door/src/x.ts" }),
    ["parts/door/src/x.ts"],
  );
  t.same(paths("import.meta.resolve(name);"), ["/*"]);
});

t.test("a constant counts where it is used, with what is joined to it there", async (t) => {
  const tree = `const repository = join(import.meta.dirname, "..", "..", "..");`;
  t.same(paths(tree), [], "nobody uses it");
  t.same(paths(`${tree} cpSync(join(repository, "examples", "echo"), to);`), ["examples/echo"]);
  t.same(
    paths(`${tree}
      const policies = join(repository, "policies");
      const name = "realm.json";
      readFileSync(join(policies, name));`),
    ["policies/realm.json"],
  );
  t.same(paths(`${tree} run({ cwd: repository });`), [""], "handed on, it leads to the whole tree");
  t.same(paths(`${tree} const options = { repository };`), [""]);
  t.same(paths(`${tree} export { repository };`), [""]);
});

t.test("what running code adds is below", async (t) => {
  t.same(
    paths(`const read = (name) => readFileSync(join(import.meta.dirname, "fixtures", name));`),
    ["parts/door/test/fixtures/*"],
  );
  t.same(paths("join(import.meta.dirname, `${name}.json`);"), ["parts/door/test/*"]);
  t.same(paths("const at = (...names) => join(import.meta.dirname, ...names);"), [
    "parts/door/test/*",
  ]);
  t.same(paths(`join(process.cwd(), file);`), ["/*"]);
});

t.test("an alternative leads both ways, and its condition nowhere", async (t) => {
  t.same(
    paths(`const folder = isOwn ? join(import.meta.dirname, "a") : join(import.meta.dirname, "b");
      readdirSync(folder);`),
    ["parts/door/test/a", "parts/door/test/b"],
  );
});

t.test("one of two names that only running code knows is below", async (t) => {
  t.same(paths(`join(import.meta.dirname, isOwn ? "a" : name);`), ["parts/door/test/*"]);
  t.same(paths(`join(import.meta.dirname, isOwn ? "a" : "b");`), [
    "parts/door/test/a",
    "parts/door/test/b",
  ]);
});

t.test("a place that is taken in an unknown way leads to the whole tree", async (t) => {
  t.same(paths("const { dirname } = import.meta;"), ["/*"]);
  t.same(paths("start(import.meta);"), ["/*"]);
  t.same(paths("if (import.meta.main) start();"), []);
});

t.test("constants of paths are followed from file to file", async (t) => {
  const { exported } = read(`export const repository = join(import.meta.dirname, "../../..");`);
  t.same([...exported], [["repository", [{ path: "", isBelow: false }]]]);
  t.same(
    paths(`join(tree, "examples", "digits");`, {
      imported: new Map([["tree", exported.get("repository")!]]),
    }),
    ["examples/digits"],
  );
});

t.test("in a compiled program a source stands in the release, too", async (t) => {
  const file = "audit/src/scrub/scrub-thread.ts";
  const text = `new Worker(new URL(
    import.meta.url.endsWith(".ts") ? import.meta.url : "audit-scrub.mjs",
    import.meta.url,
  ));`;
  t.same(paths(text, { file, isCompiled: true }).toSorted(), [
    `${RELEASE_APP}/audit-scrub.mjs`,
    `${RELEASE_APP}/program.mjs`,
    "audit/src/scrub/audit-scrub.mjs",
    file,
  ]);
  t.same(
    paths(`readFileSync(join(import.meta.dirname, "policies", "cedar"));`, {
      file,
      isCompiled: true,
    }),
    ["audit/src/scrub/policies/cedar", `${RELEASE_APP}/policies/cedar`],
  );
});

t.test("a program is known by its name, and what lies beside it by what is joined", async (t) => {
  t.same(paths(`const MAIN = shippedProgram("auditd"); spawn(MAIN);`), [
    `${RELEASE_APP}/auditd.mjs`,
  ]);
  t.same(paths(`join(dirname(shippedProgram("coordinator")), "dashboard");`), [
    `${RELEASE_APP}/dashboard`,
  ]);
  t.same(paths("spawn(shippedProgram(name));"), [`${RELEASE_APP}/*`]);
});
