/** Power cuts at every point where something has just become durable: the same command goes on, and ends where an unbroken one ends. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { hostState } from "../../dev/host-state.ts";
import { listing } from "./helper/listing.ts";
import { flagsFor, makeSmallRelease, readIfThere } from "./helper/small-release.ts";

const base = t.testdir();
const { bundle } = makeSmallRelease(base);
// Times and process ids differ; which lines there are depends on where it was broken off.
const IGNORED = /^(journal\/journal\.jsonl|data)$/;

type Ended = { status: number; stderr: string };

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { encoding: "utf8", env: { ...process.env, ...env } }, (_, __, stderr) =>
      resolve({ status: child.exitCode ?? -1, stderr }),
    );
  });
}

/** A place to install in. There are two, and both are installed in at the same time. */
class Place {
  readonly instance: string;
  readonly parent: string;
  readonly root: string;
  readonly #firstPort: number;
  readonly #before: { files: string[]; host: string[] };

  constructor(name: string, firstPort: number) {
    this.instance = `crash-${process.pid}-${name}`;
    this.parent = join(base, name);
    this.root = join(this.parent, "made", "resontech");
    this.#firstPort = firstPort;
    mkdirSync(this.parent);
    this.#before = { files: listing(this.parent), host: hostState(this.instance, this.root) };
  }

  install(env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return run("sh", [join(bundle, "install.sh"), ...flagsFor(this.root, this.instance, this.#firstPort), "--yes"], env);
  }

  uninstall(): Promise<Ended> {
    const current = join(this.root, "current");
    return run(join(current, "bin", "node"), [join(current, "app", "installer.mjs"), "uninstall", "--root", this.root, "--yes"]);
  }

  installed(): string[] {
    return listing(this.root, IGNORED);
  }

  host(): string[] {
    return hostState(this.instance, this.root);
  }

  /** What is there now and was not before the first install, or the other way round. */
  changes(): string[] {
    const now = [...listing(this.parent), ...this.host()];
    const before = [...this.#before.files, ...this.#before.host];
    return [...now.filter((line) => !before.includes(line)), ...before.filter((line) => !now.includes(line))];
  }
}

const places = [new Place("one", 41_000), new Place("two", 41_100)];
const countFile = join(base, "count");
const unbroken = await Promise.all(
  places.map(async (place, at) => {
    const ended = await place.install(at === 0 ? { RT_TEST_COUNT_FILE: countFile } : {});
    return { place, ended, expected: ended.status === 0 ? place.installed() : [] };
  }),
);
const points = Number(readIfThere(countFile));

t.test("an unbroken install, then an uninstall that leaves nothing, in two places at once", async (t) => {
  t.ok(points > 30, `${points} points where it can be cut`);
  await Promise.all(
    unbroken.map(async ({ place, ended }) => {
      t.equal(ended.status, 0, ended.stderr);
      t.ok(
        ["process", "file"].every((kind) => place.host().some((line) => line.startsWith(kind))),
        "there is something to be removed",
      );
      const done = await place.uninstall();
      t.equal(done.status, 0, done.stderr);
      t.match(done.stderr, /nothing is left/);
      t.same(place.changes(), []);
    }),
  );
});

t.test("cut at each point, the same command goes on to the same end", { timeout: 300_000 }, async (t) => {
  let next = 1;
  await Promise.all(
    unbroken.map(async ({ place, expected }) => {
      while (next <= points) {
        const point = next++;
        const cut = await place.install({ RT_TEST_CRASH_AT: String(point) });
        t.not(cut.status, 0, `cut at ${point}`);
        const again = await place.install();
        t.equal(again.status, 0, `cut at ${point}: ${again.stderr}`);
        t.same(place.installed(), expected, `cut at ${point}`);
        const gone = await place.uninstall();
        t.equal(gone.status, 0, gone.stderr);
        t.same(place.changes(), [], `after a cut at ${point} and an uninstall`);
      }
    }),
  );
});

t.test("an uninstall that is cut can be repeated, by the installer of the bundle if need be", async (t) => {
  const place = places[0]!;
  const { root, instance } = place;
  for (const point of ["data", "etc", "releases"]) {
    t.equal((await place.install()).status, 0);
    t.equal(readFileSync(join(root, "etc", "appliance.json"), "utf8").includes(instance), true);
    // As an uninstall does: parts end first, then `current` goes.
    await run(join(root, "current", "bin", "appliance"), ["--root", root, "stop"]);
    rmSync(join(root, "current"));
    rmSync(join(root, point), { recursive: true });
    t.ok(keyOfJournal(root).includes("PUBLIC KEY"));
    const tree = join(base, "tree");
    const done = await run(join(tree, "bin", "node"), [join(tree, "app", "installer.mjs"), "uninstall", "--root", root, "--yes"]);
    t.equal(done.status, 0, done.stderr);
    t.notOk(existsSync(root));
    t.notOk(existsSync(join("/run/resontech", instance)));
  }
  t.same(place.host(), []);
});

function keyOfJournal(root: string): string {
  const line = readFileSync(join(root, "journal", "journal.jsonl"), "utf8")
    .split("\n")
    .find((text) => text.includes('"kind":"begin"'));
  return (JSON.parse(line ?? "{}") as { request: { keyPem: string } }).request.keyPem;
}
