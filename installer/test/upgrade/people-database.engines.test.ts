/** Keycloak's database through an upgrade to another Keycloak and back, on small releases in the real format. What SQL does is in `returned-people` (proofs). */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import t, { type Test } from "tap";
import { hostState } from "../../../dev/host-state.ts";
import { type Ended, run } from "../helper/cut-installs.ts";
import {
  APPLIANCE,
  flagsFor,
  makeSmallRelease,
  type SmallRelease,
} from "../helper/small-release.ts";

const STRIDE = 5;
const base = mkdtempSync(join(tmpdir(), "rt-people-"));
chmodSync(base, 0o755);
t.setTimeout(300_000);
t.teardown(() => rmSync(base, { recursive: true, force: true }));

/**
 * A release whose Keycloak writes its version into the database when it starts, and refuses one that a newer one wrote, as the real one does.
 * `take-away-removals` marks the kept copy, unless the test forbids it.
 */
function release(version: string, keycloakVersion: string): SmallRelease {
  const dir = join(base, version);
  mkdirSync(dir);
  const told = APPLIANCE.replace("verb=$3\n", `verb=$3\necho "${version} $*" >>"$root/../told"\n`)
    .replace(
      '    mkdir -p "$run" "$root/data"\n',
      `    mkdir -p "$run" "$root/data/postgres/cluster"
    schema=$root/data/postgres/cluster/schema
    [ ! -s "$schema" ] || ! [ "$(cat "$schema")" \\> "${keycloakVersion}" ] || { echo "the database is of $(cat "$schema")" >&2; exit 1; }
    echo ${keycloakVersion} >"$schema"
`,
    )
    .replace(
      "  image)",
      `  take-away-removals)
    [ ! -e "$root/../forbid" ] || { echo "no" >&2; exit 1; }
    echo taken >"$root/data/postgres-kept/cluster/removals"
    : >"$root/data/postgres-kept/removed" ;;
  image)`,
    );
  return makeSmallRelease(dir, {
    ...{ version, keycloakVersion, appliance: told, keyFile: join(base, "key.pem") },
  });
}
const [older, newer, sameAgain] = [
  release("1.0.0", "26.6.4"),
  release("1.1.0", "26.7.3"),
  release("1.2.0", "26.7.3"),
];

let count = 0;
class Place implements AsyncDisposable {
  readonly instance = `people-${process.pid}-${++count}`;
  readonly parent = join(base, `place-${count}`);
  readonly root = join(this.parent, "resontech");
  env: NodeJS.ProcessEnv = {};

  constructor() {
    mkdirSync(this.parent);
  }

  async first(t: Test): Promise<void> {
    const flags = flagsFor(this.root, this.instance, 26_000 + count * 100);
    const done = await run("sh", [join(older.bundle, "install.sh"), ...flags, "--yes"]);
    t.equal(done.status, 0, done.stderr);
  }

  upgrade({ bundle }: SmallRelease): Promise<Ended> {
    writeFileSync(join(this.parent, "told"), "");
    return run("sh", [join(bundle, "install.sh"), "--root", this.root, "--yes"], this.env);
  }

  installer(verb: string, ...more: string[]): Promise<Ended> {
    const current = join(this.root, "current");
    const words = [join(current, "app", "installer.mjs"), verb, "--root", this.root, ...more];
    return run(join(current, "bin", "node"), words, this.env);
  }

  rollback(): Promise<Ended> {
    writeFileSync(join(this.parent, "told"), "");
    return this.installer("rollback", "--yes");
  }

  get current(): string {
    return basename(readlinkSync(join(this.root, "current"))).split("-")[0] ?? "";
  }

  get told(): string[] {
    return readFileSync(join(this.parent, "told"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(`--root ${this.root} `, "").replace(/ --.*/, ""));
  }

  /** Of the database that is used. */
  database(name: string): string | null {
    return read(join(this.root, "data", "postgres", "cluster", name));
  }

  kept(name: string): string | null {
    return read(join(this.root, "data", "postgres-kept", name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.env = {};
    const done = await this.installer("uninstall", "--yes");
    if (done.status !== 0 || existsSync(this.root)) throw new Error(done.stderr);
    const left = hostState(this.instance, this.root);
    if (left.length > 0) throw new Error(`left: ${left.join(", ")}`);
  }
}

function read(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

t.test("another Keycloak: the database is kept, and comes back less what was taken", async (t) => {
  await using place = new Place();
  await place.first(t);
  const done = await place.upgrade(newer);
  t.equal(done.status, 0, done.stderr);
  t.match(done.stderr, /Keycloak 26\.6\.4 → 26\.7\.3/);
  t.equal(place.database("schema"), "26.7.3");
  t.equal(place.kept("cluster/schema"), "26.6.4");
  const back = await place.rollback();
  t.equal(back.status, 0, back.stderr);
  t.equal(place.database("schema"), "26.6.4");
  t.equal(place.database("removals"), "taken");
  t.same(place.told.slice(0, 4), [
    ...["1.1.0 stop keycloak", "1.1.0 take-away-removals", "1.1.0 stop", "1.0.0 start"],
  ]);
  t.equal(place.kept("cluster/schema"), null, "nothing of it stays");
  t.equal(place.kept("left/schema"), null);
});

t.test("where nothing can be taken away, a finished upgrade stays", async (t) => {
  await using place = new Place();
  await place.first(t);
  t.equal((await place.upgrade(newer)).status, 0);
  writeFileSync(join(place.parent, "forbid"), "");
  t.equal((await place.rollback()).status, 1);
  t.equal(place.current, "1.1.0");
  t.equal(place.database("schema"), "26.7.3");
  t.notOk(place.told.includes("1.1.0 stop"), "nothing but Keycloak was stopped");
  t.equal(place.told.at(-1), "1.1.0 start keycloak", "and that runs again");
  const settled = await place.installer("settle");
  t.same([settled.status, settled.stderr], [0, ""], "no start of the appliance goes on with it");
  t.equal(place.current, "1.1.0");
  rmSync(join(place.parent, "forbid"));
  t.equal((await place.rollback()).status, 0, "the same command goes on");
  t.equal(place.database("removals"), "taken");
});

t.test("where no copy can be made, the release before runs again", async (t) => {
  await using place = new Place();
  await place.first(t);
  const programs = join(place.parent, "bin");
  mkdirSync(programs);
  const copy =
    '#!/bin/sh\ncase "$*" in *postgres*) echo "no space" >&2; exit 1 ;; esac\nexec /bin/cp "$@"\n';
  writeFileSync(join(programs, "cp"), copy, { mode: 0o755 });
  place.env = { PATH: `${programs}:${process.env["PATH"]}` };
  const done = await place.upgrade(newer);
  t.match(done.stderr, /1\.0\.0 runs again: .*\[upgrade_returned\]/s);
  t.equal(place.current, "1.0.0");
  t.same(place.told.slice(0, 2), ["1.0.0 stop", "1.0.0 start"]);
  t.equal(place.kept("cluster/schema"), null, "no half copy stays");
  place.env = {};
  t.equal((await place.upgrade(newer)).status, 0);
  t.equal(place.database("schema"), "26.7.3");
});

t.test("the same Keycloak: nothing is kept, and what was kept before goes", async (t) => {
  await using place = new Place();
  await place.first(t);
  t.equal((await place.upgrade(newer)).status, 0);
  t.equal((await place.upgrade(sameAgain)).status, 0);
  t.equal(place.kept("release"), null);
  t.equal((await place.rollback()).status, 0);
  t.equal(place.current, "1.1.0");
  t.equal(place.database("schema"), "26.7.3");
  t.equal(place.database("removals"), null);
});

t.test("cut anywhere, the older Keycloak never meets the newer one's database", async (t) => {
  await using place = new Place();
  await place.first(t);
  const file = join(base, "count");
  const pointsOf = async (work: () => Promise<Ended>) => {
    place.env = { RT_TEST_COUNT_FILE: file };
    const done = await work();
    place.env = {};
    t.equal(done.status, 0, done.stderr);
    return Number(readFileSync(file, "utf8"));
  };
  t.equal((await place.upgrade(newer)).status, 0);
  t.equal((await place.rollback()).status, 0);
  const up = await pointsOf(() => place.upgrade(newer));
  const down = await pointsOf(() => place.rollback());
  for (let point = 1; point <= Math.max(up, down); point += STRIDE) {
    if (point <= up) {
      place.env = { RT_TEST_CRASH_AT: String(point) };
      await place.upgrade(newer);
      place.env = {};
      const settled = await place.installer("settle");
      t.equal(settled.status, 0, `upgrade cut at ${point}: ${settled.stderr}`);
    }
    const whole = await place.upgrade(newer);
    t.equal(whole.status, 0, `upgrade cut at ${point}: ${whole.stderr}`);
    t.equal(place.database("schema"), "26.7.3");
    t.equal(place.kept("cluster/schema"), "26.6.4");
    if (point <= down) {
      place.env = { RT_TEST_CRASH_AT: String(point) };
      await place.rollback();
      place.env = {};
      const settled = await place.installer("settle");
      t.equal(settled.status, 0, `return cut at ${point}: ${settled.stderr}`);
    }
    const back = await place.rollback();
    if (!/no_earlier_release/.test(back.stderr))
      t.equal(back.status, 0, `return cut at ${point}: ${back.stderr}`);
    t.equal(place.current, "1.0.0");
    t.equal(place.database("schema"), "26.6.4");
    t.equal(place.database("removals"), "taken");
  }
});
