/** The steps that docs/developer/releases.md names, in a small copy of this tree. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { BUNDLE_LOCK, CHANGELOG, NPM_LOCK, packageFiles } from "../release/plan-release.ts";
import { readRooms } from "@resontech/house/read-rooms";

const repository = join(import.meta.dirname, "../..");
const read = (...path: string[]): string => readFileSync(join(...path), "utf8");
const WHO = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@example", GIT_CONFIG_GLOBAL: "/dev/null" };
const env = { ...process.env, ...WHO, GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@example" };

/** What a release reads and changes, in a repository of its own. */
function copyOfTree(t: Test): { root: string; git: (...args: string[]) => string } {
  const root = t.testdir();
  const files = packageFiles(readRooms(repository));
  for (const file of [...files, NPM_LOCK, BUNDLE_LOCK, CHANGELOG]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(repository, file), join(root, file));
  }
  // Right after a release nothing stands there.
  const log = read(root, CHANGELOG);
  writeFileSync(join(root, CHANGELOG), log.replace("## Unreleased\n", "## Unreleased\n\n- New.\n"));
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: root, env, encoding: "utf8" });
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Before");
  return { root, git };
}

/** As `npm run release` starts it, set-up aside. */
function release(root: string, ...args: string[]) {
  const script = join(repository, "dev", "release.ts");
  return spawnSync(process.execPath, [script, ...args], { cwd: root, env, encoding: "utf8" });
}

const steps = [
  ...read(repository, "docs/developer/releases.md").matchAll(/`npm run release -- ([^`]+)`/g),
].map(([, words = ""]) => words.split(" "));

t.test("the documented steps raise a tree, commit it and tag it", async (t) => {
  const { root, git } = copyOfTree(t);
  const from = (JSON.parse(read(root, "package.json")) as { version: string }).version;
  // The document names one release; the steps are the same for each.
  const version = `${Number(from.split(".")[0]) + 1}.0.0`;
  const [dry, real] = steps.map((words) =>
    words.map((word) => (/^\d/.test(word) ? version : word)),
  );
  t.same(
    [dry, real, steps.length],
    [["--version", version, "--dry-run"], ["--version", version], 2],
  );

  t.equal(release(root, ...dry!).status, 0);
  t.equal(git("status", "--porcelain") + git("tag"), "", "a dry run changes nothing");

  const { status, stdout, stderr } = release(root, ...real!);
  t.equal(status, 0, stderr);
  t.match(stdout, `${from} → ${version}`);
  t.equal(git("status", "--porcelain"), "", "nothing is left without a commit");
  t.equal(git("log", "-1", "--format=%s"), `Release ${version}\n`);
  t.equal(git("describe", "--exact-match"), `v${version}\n`);
  t.match(git("tag", "--list", "--format=%(contents)", `v${version}`), "- New.");
  t.notMatch(read(root, NPM_LOCK), `"@resontech/contracts": "${from}"`);
  for (const file of packageFiles(readRooms(root)))
    t.equal((JSON.parse(read(root, file)) as { version: string }).version, version, file);

  const again = release(root, ...real!);
  t.equal(again.status, 3);
  t.match(again.stderr, "version_not_higher");
});

t.test(
  "a tree with changes, and a tag that is there, are refused and left as they are",
  async (t) => {
    const { root, git } = copyOfTree(t);
    const head = git("rev-parse", "HEAD");
    git("tag", "v99.0.0");
    const tagged = release(root, "--version", "99.0.0");
    t.equal(tagged.status, 3);
    t.match(tagged.stderr, /^tag_exists: .*\n {2}what to do: /);
    appendFileSync(join(root, CHANGELOG), "more\n");
    const dirty = release(root, "--version", "99.0.1");
    t.equal(dirty.status, 3);
    t.match(dirty.stderr, "tree_dirty");
    t.match(dirty.stderr, CHANGELOG);
    t.equal(git("rev-parse", "HEAD"), head);
  },
);

t.test("wrong words end with 2 and the usage", async (t) => {
  for (const args of [[], ["--version"], ["--fast"], ["--version", "1.0.0", "more"]]) {
    const { status, stderr } = release(t.testdir(), ...args);
    t.equal(status, 2, args.join(" "));
    t.match(stderr, "usage: npm run release");
  }
  t.equal(release(t.testdir(), "--help").status, 0);
});
