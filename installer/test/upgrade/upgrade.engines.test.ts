/** A newer bundle on an installed appliance: an upgrade, its return by itself and by command, and what is refused. On small releases in the real format. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import t, { type Test } from "tap";
import { hostState } from "../../../dev/host-state.ts";
import { type Ended, run } from "../helper/cut-installs.ts";
import {
  APPLIANCE,
  flagsFor,
  makeSmallRelease,
  type SmallRelease,
} from "../helper/small-release.ts";

/** Every so many of the points at which something has just become durable. */
const STRIDE = 6;

const base = mkdtempSync(join(tmpdir(), "rt-upgrade-"));
chmodSync(base, 0o755);
t.setTimeout(400_000);
t.teardown(() => rmSync(base, { recursive: true, force: true }));

/** Each says in a file what it was asked to do, by its version. */
function release(
  version: string,
  change: (appliance: string) => string = (same) => same,
  keyFile = join(base, "key.pem"),
) {
  const dir = join(base, version);
  mkdirSync(dir);
  const told = APPLIANCE.replace("verb=$3\n", `verb=$3\necho "${version} $*" >>"$root/../told"\n`);
  return makeSmallRelease(dir, {
    ...{ version, appliance: change(told), keyFile },
  });
}
const [older, newer] = [release("1.0.0"), release("1.1.0")];
/** It comes up only where nothing forbids it. */
const broken = release("1.2.0", (appliance) =>
  appliance.replace(
    "  start)\n",
    '  start)\n    [ ! -e "$root/../forbid" ] || { echo "no" >&2; exit 1; }\n',
  ),
);

/** Of another vendor, or of this one with another key. */
const foreign = release("1.4.0", (same) => same, join(base, "other-key.pem"));

let count = 0;
class Place implements AsyncDisposable {
  readonly instance = `upgrade-${process.pid}-${++count}`;
  readonly parent = join(base, `place-${count}`);
  readonly root = join(this.parent, "resontech");
  readonly #flags = flagsFor(this.root, this.instance, 22_000 + count * 100);

  constructor() {
    mkdirSync(this.parent);
  }

  async first({ bundle }: SmallRelease, t: Test): Promise<void> {
    const done = await this.#install(bundle, [...this.#flags, "--yes", "--cpu-workers", "3"]);
    t.equal(done.status, 0, done.stderr);
    writeFileSync(join(this.parent, "told"), "");
  }

  /** As an operator does it who has forgotten what he chose. */
  upgrade({ bundle }: SmallRelease, ...more: string[]): Promise<Ended> {
    return this.#install(bundle, ["--root", this.root, "--yes", ...more]);
  }

  rollback(): Promise<Ended> {
    return this.#installer("rollback", "--root", this.root, "--yes");
  }

  /** As each start of the appliance runs it. */
  settle(): Promise<Ended> {
    return this.#installer("settle", "--root", this.root);
  }

  /** By the command of the installed release. */
  upgradeFrom(medium: string, ...more: string[]): Promise<Ended> {
    return this.#installer("upgrade", medium, "--root", this.root, "--yes", ...more);
  }

  resume(): Promise<Ended> {
    return this.#installer("resume", "--root", this.root);
  }

  get current(): string {
    return basename(readlinkSync(join(this.root, "current"))).split("-")[0] ?? "";
  }

  get told(): string[] {
    return readFileSync(join(this.parent, "told"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(`--root ${this.root} `, ""));
  }

  /** The name of the staged folder of a version. */
  folderOf(version: string): string | undefined {
    return readdirSync(join(this.root, "releases")).find((name) => name.startsWith(`${version}-`));
  }

  blobs(): number {
    return readdirSync(join(this.root, "blobs", "sha256")).length;
  }

  config(): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.root, "etc", "appliance.json"), "utf8")) as Record<
      string,
      unknown
    >;
  }

  forbid(): void {
    writeFileSync(join(this.parent, "forbid"), "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const done = await this.#installer("uninstall", "--root", this.root, "--yes");
    if (done.status !== 0 || existsSync(this.root)) throw new Error(done.stderr);
    const left = hostState(this.instance, this.root);
    if (left.length > 0) throw new Error(`left: ${left.join(", ")}`);
  }

  #install(bundle: string, flags: readonly string[]): Promise<Ended> {
    return run("sh", [join(bundle, "install.sh"), ...flags], this.#env);
  }

  #installer(...args: string[]): Promise<Ended> {
    const current = join(this.root, "current");
    return run(
      join(current, "bin", "node"),
      [join(current, "app", "installer.mjs"), ...args],
      this.#env,
    );
  }

  #env: NodeJS.ProcessEnv = {};
  cutAt(point: number | null): void {
    this.#env = point === null ? {} : { RT_TEST_CRASH_AT: String(point) };
  }

  countTo(file: string): void {
    this.#env = { RT_TEST_COUNT_FILE: file };
  }
}

t.test("a newer bundle takes the place of the older release, with its choices", async (t) => {
  await using place = new Place();
  await place.first(older, t);
  const file = join(place.root, "etc", "appliance.json");
  writeFileSync(file, JSON.stringify({ ...place.config(), hangAfterMinutes: 7 }));
  const plan = await place.upgrade(newer, "--dry-run");
  t.match(plan.stderr, /upgrade of 1\.0\.0/);
  t.equal(place.current, "1.0.0");
  const done = await place.upgrade(newer);
  t.equal(done.status, 0, done.stderr);
  t.equal(place.current, "1.1.0");
  t.match(place.config(), {
    ...{ instance: place.instance, agent: { cpuWorkers: 3 }, hangAfterMinutes: 7 },
  });
  t.same(
    place.told.slice(0, 2),
    ["1.0.0 stop --for 900 --keep-door", "1.1.0 start --within 200"],
    "the older one stops",
  );

  const again = await place.upgrade(newer);
  t.equal(again.status, 0, again.stderr);
  t.notMatch(again.stderr, /upgrade of/);
});

t.test("a release that does not come up is replaced by the one before", async (t) => {
  await using place = new Place();
  await place.first(older, t);
  place.forbid();
  const done = await place.upgrade(broken);
  t.equal(done.status, 1);
  t.match(done.stderr, /1\.0\.0 runs again: .*\[upgrade_returned\]/s);
  t.equal(place.current, "1.0.0");
  t.same(
    place.told.map((line) => line.replace(/ --username .*/, "")),
    [
      ...[
        "1.0.0 stop --for 900 --keep-door",
        "1.2.0 start --within 200",
        "1.2.0 stop --for 900 --keep-door",
      ],
      ...["1.0.0 start", "1.0.0 first-boot"],
    ],
  );
  rmSync(join(place.parent, "forbid"));
  const next = await place.upgrade(broken);
  t.equal(next.status, 0, next.stderr);
  t.equal(place.current, "1.2.0");
});

t.test("a finished upgrade is rolled back once, without a medium", async (t) => {
  await using place = new Place();
  await place.first(older, t);
  const none = await place.rollback();
  t.match(none.stderr, /no_earlier_release/);
  t.equal((await place.upgrade(newer)).status, 0);
  const back = await place.rollback();
  t.equal(back.status, 0, back.stderr);
  t.match(back.stderr, /1\.0\.0 runs again after/);
  t.equal(place.current, "1.0.0");
  t.match((await place.rollback()).stderr, /no_earlier_release/);
  t.equal((await place.upgrade(newer)).status, 0, "and upgraded again");
  t.equal(place.current, "1.1.0");
  // What a restore put aside is this appliance's as well: the uninstall at the end leaves nothing.
  mkdirSync(join(place.root, "before-restore-20260101T000000Z", "data"), { recursive: true });
});

t.test("an older bundle is refused unless it is meant", async (t) => {
  await using place = new Place();
  await place.first(newer, t);
  const refused = await place.upgrade(older);
  t.equal(refused.status, 1);
  t.match(refused.stderr, /release_older/);
  t.equal(place.current, "1.1.0");
  t.same(place.told, [], "nothing was stopped");
  t.equal((await place.upgrade(older, "--allow-older")).status, 0);
  t.equal(place.current, "1.0.0");
});

t.test("the installed release takes a medium that its own key vouches for", async (t) => {
  await using place = new Place();
  await place.first(older, t);
  const refused = await place.upgradeFrom(foreign.bundle);
  t.equal(refused.status, 3, refused.stderr);
  t.match(refused.stderr, /the pinned one/);
  const plan = await place.upgradeFrom(newer.bundle, "--dry-run");
  t.match(plan.stderr, /upgrade of 1\.0\.0/);
  t.match(plan.stderr, /\d MB to import/);
  t.equal(place.current, "1.0.0");
  t.same(place.told, [], "nothing was stopped");
  t.equal((await place.upgradeFrom(newer.bundle)).status, 0);
  t.equal(place.current, "1.1.0");
  t.match((await place.upgrade(foreign)).stderr, /signing_key_changed/);
  t.equal(place.current, "1.1.0");
});

t.test("of older releases the one before stays, and what runs from another", async (t) => {
  await using place = new Place();
  await place.first(older, t);
  const script = (): string => join(place.root, "releases", place.folderOf("1.0.0")!, "bin/node");
  t.equal((await place.upgrade(newer)).status, 0);
  // The pinned Node of a small release is a script: what runs is a copy of a real program beside it.
  const program = join(dirname(script()), "sleep");
  copyFileSync("/bin/sleep", program);
  const running = spawn(program, ["600"]);
  t.teardown(() => running.kill("SIGKILL"));
  await once(running, "spawn");
  t.equal((await place.upgrade(broken)).status, 0);
  t.ok(place.folderOf("1.0.0"), "something runs from it");
  running.kill("SIGKILL");
  await once(running, "exit");
  const blobs = place.blobs();
  t.equal((await place.upgrade(newer, "--allow-older")).status, 0);
  t.equal(place.folderOf("1.0.0"), undefined);
  t.ok(place.folderOf("1.2.0"));
  t.equal(blobs - place.blobs(), 1, "its own script went with it, what others have stayed");
  t.equal((await place.rollback()).status, 0);
  t.equal(place.current, "1.2.0");
});

t.test("once it is staged, an upgrade goes on without its medium", async (t) => {
  await using place = new Place();
  await place.first(older, t);
  place.forbid();
  const taken = await place.upgrade(broken);
  t.match(taken.stderr, /upgrade_returned/);
  t.equal((await place.upgrade(newer)).status, 0);
  renameSync(newer.bundle, `${newer.bundle}.away`);
  try {
    t.equal((await place.resume()).status, 0);
    t.equal(place.current, "1.1.0");
  } finally {
    renameSync(`${newer.bundle}.away`, newer.bundle);
  }
});

t.test("cut anywhere, an upgrade and a return go on to their end", async (t) => {
  await using place = new Place();
  await place.first(older, t);
  const file = join(base, "count");
  const pointsOf = async (work: () => Promise<Ended>) => {
    place.countTo(file);
    const done = await work();
    place.cutAt(null);
    t.equal(done.status, 0, done.stderr);
    return Number(readFileSync(file, "utf8"));
  };
  // What the first one brings in stays: from the second on they are all alike.
  t.equal((await place.upgrade(newer)).status, 0);
  t.equal((await place.rollback()).status, 0);
  const up = await pointsOf(() => place.upgrade(newer));
  const down = await pointsOf(() => place.rollback());
  t.ok(up > 10 && down > 5, `${up} and ${down} points`);
  for (let point = 1; point <= Math.max(up, down); point += STRIDE) {
    if (point <= up) {
      place.cutAt(point);
      t.not((await place.upgrade(newer)).status, 0);
      place.cutAt(null);
      // What the next start does: it ends what was switched, and lets be what was not.
      const settled = await place.settle();
      t.equal(settled.status, 0, `upgrade cut at ${point}: ${settled.stderr}`);
      const next = await place.settle();
      t.same([next.status, next.stderr], [0, ""], "nothing is open any more");
    }
    const whole = await place.upgrade(newer);
    t.equal(whole.status, 0, `upgrade cut at ${point}: ${whole.stderr}`);
    t.equal(place.current, "1.1.0");
    if (point <= down) {
      place.cutAt(point);
      t.not((await place.rollback()).status, 0);
      place.cutAt(null);
      const settled = await place.settle();
      t.equal(settled.status, 0, `return cut at ${point}: ${settled.stderr}`);
    }
    // Whether the return had begun or not, the same command goes on; one that was cut at its very end has ended.
    const back = await place.rollback();
    if (place.current === "1.0.0" && /no_earlier_release/.test(back.stderr)) continue;
    t.equal(back.status, 0, `return cut at ${point}: ${back.stderr}`);
    t.equal(place.current, "1.0.0");
  }
});
