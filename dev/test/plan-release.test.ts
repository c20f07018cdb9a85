import t from "tap";
import { packageFiles, planRelease, type Texts } from "../release/plan-release.ts";

const LOG = "# Changelog\n\n## Unreleased\n\n### Added\n\n- A door.\n\n## 0.1.0\n\n- The first.\n";

/** A tree of two rooms, of which one needs the other and a package of another version that is the same word. */
function tree(changes: Record<string, string> = {}): Texts {
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  const b = { "@resontech/a": "0.1.0", other: "0.1.0" };
  return {
    "package.json": json({ name: "tree", version: "0.1.0", workspaces: ["a", "b"] }),
    "a/package.json": json({ name: "@resontech/a", version: "0.1.0" }),
    "b/package.json": json({ name: "@resontech/b", version: "0.1.0", dependencies: b }),
    "package-lock.json": json({
      version: "0.1.0",
      packages: {
        "": { name: "tree", version: "0.1.0" },
        a: { name: "@resontech/a", version: "0.1.0" },
        b: { name: "@resontech/b", version: "0.1.0", dependencies: b },
        "node_modules/other": { version: "0.1.0" },
      },
    }),
    "airgap/lock.json":
      '{\n  "version": "0.1.0",\n  "releaseNumber": 1,\n  "upgradeFrom": [">=0.1.0"]\n}\n',
    "CHANGELOG.md": LOG,
    ...changes,
  };
}

t.test(
  "a release raises every room, and no package of others that has the same version",
  async (t) => {
    const { files, from, to } = planRelease(tree(), "0.2.0", "2026-12-01");
    t.same([from, to], ["0.1.0", "0.2.0"]);
    t.same(packageFiles(["a", "b"]), ["package.json", "a/package.json", "b/package.json"]);
    t.equal(JSON.parse(files["package.json"]!).version, "0.2.0");
    t.match(JSON.parse(files["b/package.json"]!), {
      version: "0.2.0",
      dependencies: { "@resontech/a": "0.2.0", other: "0.1.0" },
    });
    t.match(JSON.parse(files["package-lock.json"]!), {
      version: "0.2.0",
      packages: {
        "": { version: "0.2.0" },
        b: { version: "0.2.0", dependencies: { "@resontech/a": "0.2.0", other: "0.1.0" } },
        "node_modules/other": { version: "0.1.0" },
      },
    });
  },
);

t.test("a bundle gets the next number, and its lock stays as it was otherwise", async (t) => {
  const { files } = planRelease(tree(), "0.2.0", "2026-12-01");
  t.equal(
    files["airgap/lock.json"],
    '{\n  "version": "0.2.0",\n  "releaseNumber": 2,\n  "upgradeFrom": [">=0.1.0"]\n}\n',
  );
});

t.test("what was unreleased stands under the version, and is told as the notes", async (t) => {
  const { files, notes } = planRelease(tree(), "0.2.0", "2026-12-01");
  t.equal(
    files["CHANGELOG.md"],
    LOG.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 - 2026-12-01\n"),
  );
  t.equal(notes, "### Added\n\n- A door.");
});

t.test("a try comes before its release", async (t) => {
  t.equal(planRelease(tree(), "0.2.0-rc.1", "2026-12-01").to, "0.2.0-rc.1");
  t.throws(() => planRelease(tree(), "0.1.0-rc.1", "2026-12-01"), { code: "version_not_higher" });
});

t.test("each thing that is not fit has a code of its own", async (t) => {
  const refused = (code: string, to: string, changes: Record<string, string> = {}) =>
    t.throws(() => planRelease(tree(changes), to, "2026-12-01"), { code }, `${code} of ${to}`);
  refused("version_not_higher", "0.1.0");
  refused("version_not_higher", "0.0.9");
  refused("version_malformed", "v0.2.0");
  refused("version_malformed", "0.2");
  refused("versions_differ", "0.2.0", { "a/package.json": '{"version":"0.1.1"}' });
  refused("unreleased_missing", "0.2.0", { "CHANGELOG.md": "# Changelog\n" });
  refused("unreleased_empty", "0.2.0", { "CHANGELOG.md": LOG.replace("- A door.", "") });
});
