/** Keycloak's database through an upgrade to another Keycloak and back, on small releases in the real format. What SQL does is in `returned-people` (proofs). */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { SmallInstallation, tellingAppliance } from "../helper/small-installation.ts";
import { makeSmallRelease, type SmallRelease } from "../helper/small-release.ts";

const STRIDE = 5;
const base = mkdtempSync(join(tmpdir(), "rt-people-"));
chmodSync(base, 0o755);
t.setTimeout(600_000);
t.teardown(() => rmSync(base, { recursive: true, force: true }));

/**
 * A release whose Keycloak writes its version into the database when it starts, and refuses one that a newer one wrote, as the real one does.
 * `take-away-removals` marks the kept copy, unless the test forbids it.
 */
function release(version: string, keycloakVersion: string): SmallRelease {
  const dir = join(base, version);
  mkdirSync(dir);
  const told = tellingAppliance(version)
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

const place = (): SmallInstallation => new SmallInstallation(base, "people", 24_800);
/** Of the database that is used. */
const database = ({ root }: SmallInstallation, name: string): string | null =>
  read(join(root, "data", "postgres", "cluster", name));
const kept = ({ root }: SmallInstallation, name: string): string | null =>
  read(join(root, "data", "postgres-kept", name));
const told = ({ told: all }: SmallInstallation): string[] =>
  all.map((line) => line.replace(/ --.*/, ""));

function read(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

t.test("another Keycloak: the database is kept, and comes back less what was taken", async (t) => {
  await using at = place();
  await at.first(older, t);
  const done = await at.upgrade(newer);
  t.equal(done.status, 0, done.stderr);
  t.match(done.stderr, /Keycloak 26\.6\.4 → 26\.7\.3/);
  t.equal(database(at, "schema"), "26.7.3");
  t.equal(kept(at, "cluster/schema"), "26.6.4");
  const back = await at.rollback();
  t.equal(back.status, 0, back.stderr);
  t.equal(database(at, "schema"), "26.6.4");
  t.equal(database(at, "removals"), "taken");
  t.same(told(at).slice(0, 4), [
    ...["1.1.0 stop keycloak", "1.1.0 take-away-removals", "1.1.0 stop", "1.0.0 start"],
  ]);
  t.equal(kept(at, "cluster/schema"), null, "nothing of it stays");
  t.equal(kept(at, "left/schema"), null);
});

t.test("where nothing can be taken away, a finished upgrade stays", async (t) => {
  await using at = place();
  await at.first(older, t);
  t.equal((await at.upgrade(newer)).status, 0);
  writeFileSync(join(at.parent, "forbid"), "");
  t.equal((await at.rollback()).status, 1);
  t.equal(at.current, "1.1.0");
  t.equal(database(at, "schema"), "26.7.3");
  t.notOk(told(at).includes("1.1.0 stop"), "nothing but Keycloak was stopped");
  t.equal(told(at).at(-1), "1.1.0 start keycloak", "and that runs again");
  const settled = await at.settle();
  t.same([settled.status, settled.stderr], [0, ""], "no start of the appliance goes on with it");
  t.equal(at.current, "1.1.0");
  rmSync(join(at.parent, "forbid"));
  t.equal((await at.rollback()).status, 0, "the same command goes on");
  t.equal(database(at, "removals"), "taken");
});

t.test("where no copy can be made, the release before runs again", async (t) => {
  await using at = place();
  await at.first(older, t);
  const programs = join(at.parent, "bin");
  mkdirSync(programs);
  const copy =
    '#!/bin/sh\ncase "$*" in *postgres*) echo "no space" >&2; exit 1 ;; esac\nexec /bin/cp "$@"\n';
  writeFileSync(join(programs, "cp"), copy, { mode: 0o755 });
  at.env = { PATH: `${programs}:${process.env["PATH"]}` };
  const done = await at.upgrade(newer);
  t.match(done.stderr, /1\.0\.0 runs again: .*\[upgrade_returned\]/s);
  t.equal(at.current, "1.0.0");
  t.same(told(at).slice(0, 2), ["1.0.0 stop", "1.0.0 start"]);
  t.equal(kept(at, "cluster/schema"), null, "no half copy stays");
  at.env = {};
  t.equal((await at.upgrade(newer)).status, 0);
  t.equal(database(at, "schema"), "26.7.3");
});

t.test("the same Keycloak: nothing is kept, and what was kept before goes", async (t) => {
  await using at = place();
  await at.first(older, t);
  t.equal((await at.upgrade(newer)).status, 0);
  t.equal((await at.upgrade(sameAgain)).status, 0);
  t.equal(kept(at, "release"), null);
  t.equal((await at.rollback()).status, 0);
  t.equal(at.current, "1.1.0");
  t.equal(database(at, "schema"), "26.7.3");
  t.equal(database(at, "removals"), null);
});

t.test("cut anywhere, the older Keycloak never meets the newer one's database", async (t) => {
  await using at = place();
  await at.first(older, t);
  t.equal((await at.upgrade(newer)).status, 0);
  t.equal((await at.rollback()).status, 0);
  const up = await at.pointsOf(() => at.upgrade(newer), t);
  const down = await at.pointsOf(() => at.rollback(), t);
  for (let point = 1; point <= Math.max(up, down); point += STRIDE) {
    if (point <= up) {
      at.cutAt(point);
      await at.upgrade(newer);
      at.env = {};
      const settled = await at.settle();
      t.equal(settled.status, 0, `upgrade cut at ${point}: ${settled.stderr}`);
    }
    const whole = await at.upgrade(newer);
    t.equal(whole.status, 0, `upgrade cut at ${point}: ${whole.stderr}`);
    t.equal(database(at, "schema"), "26.7.3");
    t.equal(kept(at, "cluster/schema"), "26.6.4");
    if (point <= down) {
      at.cutAt(point);
      await at.rollback();
      at.env = {};
      const settled = await at.settle();
      t.equal(settled.status, 0, `return cut at ${point}: ${settled.stderr}`);
    }
    const back = await at.rollback();
    if (!/no_earlier_release/.test(back.stderr))
      t.equal(back.status, 0, `return cut at ${point}: ${back.stderr}`);
    t.equal(at.current, "1.0.0");
    t.equal(database(at, "schema"), "26.6.4");
    t.equal(database(at, "removals"), "taken");
  }
});
