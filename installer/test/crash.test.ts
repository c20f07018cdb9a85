/** Power cuts at every point where something has just become durable: the same command goes on, and ends where an unbroken one ends. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { hostState } from "../../dev/host-state.ts";
import { listing } from "./helper/listing.ts";
import { flagsFor, makeSmallRelease, readIfThere } from "./helper/small-release.ts";

const instance = `crash-${process.pid}`;
const base = t.testdir();
const { bundle } = makeSmallRelease(base);
const parent = join(base, "opt");
const root = join(parent, "made", "resontech");
mkdirSync(parent);
// Times and process ids differ; which lines there are depends on where it was broken off.
const IGNORED = /^(journal\/journal\.jsonl|data)$/;

function run(verb: "install" | "uninstall", env: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> {
  const args =
    verb === "install"
      ? [join(bundle, "install.sh"), ...flagsFor(root, instance, 41_000), "--yes"]
      : ["-c", `exec "${root}/current/bin/node" "${root}/current/app/installer.mjs" uninstall --root "${root}" --yes`];
  return spawnSync("sh", args, { encoding: "utf8", env: { ...process.env, ...env } });
}

const before = { files: listing(parent), host: hostState(instance, root) };
const countFile = join(base, "count");
const whole = run("install", { RT_TEST_COUNT_FILE: countFile });
const expected = whole.status === 0 ? listing(root, IGNORED) : [];
const points = Number(readIfThere(countFile));

t.test("an unbroken install, then an uninstall that leaves nothing", async (t) => {
  t.equal(whole.status, 0, whole.stderr);
  t.ok(points > 30, `${points} points where it can be cut`);
  t.ok(
    ["process", "file"].every((kind) => hostState(instance, root).some((line) => line.startsWith(kind))),
    "there is something to be removed",
  );
  const done = run("uninstall");
  t.equal(done.status, 0, done.stderr);
  t.match(done.stderr, /nothing is left/);
  t.same(listing(parent), before.files);
  t.same(hostState(instance, root), before.host);
});

t.test("cut at each point, the same command goes on to the same end", { timeout: 300_000 }, async (t) => {
  for (let point = 1; point <= points; point += 1) {
    const cut = run("install", { RT_TEST_CRASH_AT: String(point) });
    t.not(cut.status, 0, `cut at ${point}`);
    const again = run("install");
    t.equal(again.status, 0, `cut at ${point}: ${again.stderr}`);
    t.same(listing(root, IGNORED), expected, `cut at ${point}`);
    const gone = run("uninstall");
    t.equal(gone.status, 0, gone.stderr);
    t.same(listing(parent), before.files, `after a cut at ${point} and an uninstall`);
  }
  t.same(hostState(instance, root), before.host);
});

t.test("an uninstall that is cut can be repeated, by the installer of the bundle if need be", async (t) => {
  for (const point of ["data", "etc", "releases"]) {
    t.equal(run("install").status, 0);
    t.equal(readFileSync(join(root, "etc", "appliance.json"), "utf8").includes(instance), true);
    // As an uninstall does: parts end first, then `current` goes.
    spawnSync(join(root, "current", "bin", "appliance"), ["--root", root, "stop"]);
    rmSync(join(root, "current"));
    rmSync(join(root, point), { recursive: true });
    const { keyPem } = readRequest();
    t.ok(keyPem.includes("PUBLIC KEY"));
    const done = spawnSync(
      join(base, "tree", "bin", "node"),
      [join(base, "tree", "app", "installer.mjs"), "uninstall", "--root", root, "--yes"],
      {
        encoding: "utf8",
      },
    );
    t.equal(done.status, 0, done.stderr);
    t.notOk(existsSync(root));
    t.notOk(existsSync(join("/run/resontech", instance)));
  }
  t.same(hostState(instance, root), before.host);
});

function readRequest(): { keyPem: string } {
  const line = readFileSync(join(root, "journal", "journal.jsonl"), "utf8")
    .split("\n")
    .find((text) => text.includes('"kind":"begin"'));
  return (JSON.parse(line ?? "{}") as { request: { keyPem: string } }).request;
}
