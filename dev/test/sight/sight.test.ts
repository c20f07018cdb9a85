import t from "tap";
import type { Source } from "../../tests/sight/source-tree.ts";
import { sightsOf } from "../../tests/sight/sight.ts";

const NOTHING: Source = {
  ...{ imports: [], paths: [], named: [], rooms: [], declares: [] },
  ...{ hasUnnamed: false, asksGit: false, usesBundle: false, isForeign: false },
};
const TEST = "cli/test/a.engines.test.ts";
const at = (path: string, isBelow = false) => ({ path, isBelow });

/** What a test sees of a small tree; each source by what it has besides {@link NOTHING}. */
function seen(
  sources: Record<string, Partial<Source>>,
  others: readonly string[] = [],
  test = TEST,
) {
  const files = [...new Set([...Object.keys(sources), ...others])].toSorted();
  const folders = new Map<string, string[]>();
  for (const file of files)
    for (const [index] of [...file.matchAll(/\//g)].map((match) => [match.index] as const)) {
      const folder = file.slice(0, index);
      folders.set(folder, [...(folders.get(folder) ?? []), file]);
    }
  const sights = sightsOf([test], {
    ...{ files: new Set(files), folders },
    sources: new Map(Object.entries(sources).map(([file, its]) => [file, { ...NOTHING, ...its }])),
    rooms: new Set([
      "airgap",
      "audit",
      "cli",
      "dashboard",
      "house",
      "parts",
      "parts/auditd",
      "dev",
    ]),
  });
  return [...sights.get(test)!].filter((file) => file !== test).toSorted();
}

t.test(
  "a test sees what it imports, and what that imports, and none of the room besides",
  async (t) => {
    t.same(
      seen(
        {
          [TEST]: { imports: ["cli/src/a.ts"] },
          "cli/src/a.ts": { imports: ["audit/src/b.ts", TEST] },
          "audit/src/b.ts": {},
          "audit/src/c.ts": {},
        },
        ["cli/package.json", "audit/package.json", "cli/src/z.ts"],
      ),
      ["audit/package.json", "audit/src/b.ts", "cli/package.json", "cli/src/a.ts"],
    );
  },
);

t.test("a file that is read is seen, a source that is started is followed", async (t) => {
  t.same(
    seen(
      {
        [TEST]: { paths: [at("cli/test/fixtures", true), at("audit/src/main.ts")] },
        "audit/src/main.ts": { imports: ["audit/src/b.ts"] },
        "audit/src/b.ts": {},
      },
      ["cli/test/fixtures/a.json", "cli/test/fixtures/b/c.sql", "cli/test/d.json"],
    ),
    [
      "audit/src/b.ts",
      "audit/src/main.ts",
      "cli/test/fixtures/a.json",
      "cli/test/fixtures/b/c.sql",
    ],
  );
});

t.test("a path to a room leads to all of it", async (t) => {
  const tree = {
    [TEST]: { paths: [at("audit")] },
    "audit/src/a.ts": { imports: ["cli/src/b.ts"] },
    "cli/src/b.ts": {},
  };
  t.same(seen(tree, ["audit/x.json", "cli/src/c.ts"]), [
    "audit/src/a.ts",
    "audit/x.json",
    "cli/src/b.ts",
  ]);
});

t.test("a path that stands in the text counts, too", async (t) => {
  t.same(
    seen({ [TEST]: { named: ["policies/realm.json"] } }, ["policies/realm.json", "policies/b"]),
    ["policies/realm.json"],
  );
});

t.test(
  "a program is seen with what it is compiled of, and with what ships beside it",
  async (t) => {
    const tree: Record<string, Partial<Source>> = {
      [TEST]: { paths: [at("/release/app/auditd.mjs")] },
      "parts/auditd/src/main.ts": {
        imports: ["audit/src/b.ts"],
        paths: [at("parts/auditd/src/policies/cedar"), at("/release/app/policies/cedar")],
      },
      "audit/src/b.ts": {},
      "parts/auditd/src/other.ts": {},
    };
    t.same(seen(tree, ["policies/cedar/a.cedar", "policies/retention.json"]), [
      "audit/src/b.ts",
      "parts/auditd/src/main.ts",
      "policies/cedar/a.cedar",
    ]);
  },
);

t.test("pages that a program serves are the dashboard's, without its tests", async (t) => {
  t.same(
    seen(
      {
        [TEST]: { paths: [at("/release/app/dashboard")] },
        "dashboard/src/main.tsx": { imports: ["audit/src/b.ts"] },
        "audit/src/b.ts": {},
        "dashboard/test/helper/c.ts": {},
      },
      ["dashboard/index.html"],
    ),
    ["audit/src/b.ts", "dashboard/index.html", "dashboard/src/main.tsx"],
  );
});

t.test(
  "whoever starts a declared part sees the programs of the declarations that it loads",
  async (t) => {
    const tree = (starts: string): Record<string, Partial<Source>> => ({
      [TEST]: { imports: ["parts/auditd/part.ts", starts] },
      "parts/auditd/part.ts": { declares: ["auditd"] },
      "house/src/running-part.ts": { paths: [at("/release/app", true)] },
      "house/src/other.ts": {},
      "parts/auditd/src/main.ts": {},
    });
    t.ok(seen(tree("house/src/running-part.ts")).includes("parts/auditd/src/main.ts"));
    t.notOk(seen(tree("house/src/other.ts")).includes("parts/auditd/src/main.ts"));
  },
);

t.test(
  "where a text does not say what it reads, the whole room is seen, and what its sources import",
  async (t) => {
    const tree: Record<string, Partial<Source>> = {
      "cli/src/a.ts": { imports: ["audit/src/b.ts"] },
      "audit/src/b.ts": {},
      "audit/src/c.ts": {},
      "cli/test/other.test.ts": { imports: ["audit/src/c.ts"] },
    };
    const whole = ["audit/src/b.ts", "cli/src/a.ts", "cli/src/x.json", "cli/test/other.test.ts"];
    const open: Record<string, Partial<Source>> = {
      "a path to the whole tree": { paths: [at("")] },
      "a path that leads nowhere": { paths: [at("cli/nowhere/missing.json")] },
      "a module without a name": { hasUnnamed: true },
    };
    for (const [what, its] of Object.entries(open))
      t.same(seen({ ...tree, [TEST]: its }, ["cli/src/x.json", "dashboard/x.css"]), whole, what);
    t.ok(
      seen({ ...tree, [TEST]: { paths: [at("")], rooms: ["dashboard"] } }, [
        "dashboard/x.css",
      ]).includes("dashboard/x.css"),
      "rooms that it names, too",
    );
    t.ok(
      seen({ ...tree, [TEST]: { paths: [at("")], asksGit: true } }, ["docs/a.md"]).includes(
        "docs/a.md",
      ),
      "the whole tree, where git lists it",
    );
  },
);

t.test("a program of another language sees its room but for TypeScript", async (t) => {
  t.same(
    seen(
      {
        [TEST]: { paths: [at("cli/test/run.py")] },
        "cli/test/run.py": { isForeign: true, named: ["examples/digits/model.py"] },
        "cli/test/lib.py": { isForeign: true },
        "cli/src/a.ts": {},
      },
      ["cli/test/x.json", "examples/digits/model.py"],
    ),
    ["cli/test/lib.py", "cli/test/run.py", "cli/test/x.json", "examples/digits/model.py"],
  );
});

t.test("who uses a bundle, or the installed appliance, sees all that ships", async (t) => {
  const others = ["audit/src/a.ts", "install.sh", "audit/test/a.ts", "docs/a.md", "README.md"];
  const shipped = ["audit/src/a.ts", "install.sh"];
  t.same(seen({ [TEST]: { usesBundle: true } }, others), shipped);
  t.same(seen({}, [...others, "acceptance/test/x.test.ts"], "acceptance/test/x.test.ts"), shipped);
});

t.test("steps that airgap made are as airgap's room", async (t) => {
  t.same(seen({ [TEST]: { paths: [at(".cache/airgap/steps", true)] } }, ["airgap/lock.json"]), [
    "airgap/lock.json",
  ]);
  t.same(seen({ [TEST]: { paths: [at(".cache/test-venvs")] } }, ["airgap/lock.json"]), []);
});

t.test("every test sees what decides how tests run, and costs are none of that", async (t) => {
  const runner = ["dev/test.ts", "dev/tests/run-tests.ts", "package-lock.json", ".taprc"];
  t.same(
    seen({}, [...runner, "dev/tests/recorded-costs.json", "dev/develop.ts", "README.md"]),
    runner.toSorted(),
  );
});

t.test("tests that read every room see every file", async (t) => {
  t.same(seen({}, ["docs/a.md", "README.md"], "dev/test/documents.test.ts"), [
    "README.md",
    "docs/a.md",
  ]);
});
