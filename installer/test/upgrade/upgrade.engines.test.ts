/** A newer bundle on an installed appliance: an upgrade, its return by itself and by command, and what is refused. On small releases in the real format. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { SmallInstallation, tellingAppliance } from "../helper/small-installation.ts";
import { makeSmallRelease } from "../helper/small-release.ts";

/** Every so many of the points at which something has just become durable. */
const STRIDE = 6;

const base = mkdtempSync(join(tmpdir(), "rt-upgrade-"));
chmodSync(base, 0o755);
t.setTimeout(600_000);
t.teardown(() => rmSync(base, { recursive: true, force: true }));

/** Each says in a file what it was asked to do, by its version. */
function release(
  version: string,
  change: (appliance: string) => string = (same) => same,
  keyFile = join(base, "key.pem"),
) {
  const dir = join(base, version);
  mkdirSync(dir);
  return makeSmallRelease(dir, {
    ...{ version, appliance: change(tellingAppliance(version)), keyFile },
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

const place = (): SmallInstallation => new SmallInstallation(base, "upgrade", 24_400);
const forbid = ({ parent }: SmallInstallation): void => writeFileSync(join(parent, "forbid"), "");
const blobs = ({ root }: SmallInstallation): number =>
  readdirSync(join(root, "blobs", "sha256")).length;

t.test("a newer bundle takes the place of the older release, with its choices", async (t) => {
  await using at = place();
  await at.first(older, t, "--cpu-workers", "3");
  const file = join(at.root, "etc", "appliance.json");
  writeFileSync(file, JSON.stringify({ ...at.config(), hangAfterMinutes: 7 }));
  const plan = await at.upgrade(newer, "--dry-run");
  t.match(plan.stderr, /upgrade of 1\.0\.0/);
  t.equal(at.current, "1.0.0");
  const done = await at.upgrade(newer);
  t.equal(done.status, 0, done.stderr);
  t.equal(at.current, "1.1.0");
  t.match(at.config(), {
    ...{ instance: at.instance, agent: { cpuWorkers: 3 }, hangAfterMinutes: 7 },
  });
  t.same(
    at.told.slice(0, 2),
    ["1.0.0 stop --for 900 --keep-door", "1.1.0 start --within 200"],
    "the older one stops",
  );

  const again = await at.upgrade(newer);
  t.equal(again.status, 0, again.stderr);
  t.notMatch(again.stderr, /upgrade of/);
});

t.test("a release that does not come up is replaced by the one before", async (t) => {
  await using at = place();
  await at.first(older, t);
  forbid(at);
  const done = await at.upgrade(broken);
  t.equal(done.status, 1);
  t.match(done.stderr, /1\.0\.0 runs again: .*\[upgrade_returned\]/s);
  t.equal(at.current, "1.0.0");
  t.same(
    at.told.map((line) => line.replace(/ --username .*/, "")),
    [
      ...[
        "1.0.0 stop --for 900 --keep-door",
        "1.2.0 start --within 200",
        "1.2.0 stop --for 900 --keep-door",
      ],
      ...["1.0.0 start", "1.0.0 first-boot"],
    ],
  );
  t.match((await at.rollback()).stderr, /nothing ran here before 1\.0\.0.*no_earlier_release/s);
  rmSync(join(at.parent, "forbid"));
  const next = await at.upgrade(broken);
  t.equal(next.status, 0, next.stderr);
  t.equal(at.current, "1.2.0");
});

t.test("after an upgrade that failed, the release before the present one comes back", async (t) => {
  await using at = place();
  await at.first(older, t);
  t.equal((await at.upgrade(newer)).status, 0);
  forbid(at);
  t.match((await at.upgrade(broken)).stderr, /upgrade_returned/);
  t.equal(at.current, "1.1.0");
  const back = await at.rollback();
  t.equal(back.status, 0, back.stderr);
  t.equal(at.current, "1.0.0");
  t.match((await at.rollback()).stderr, /nothing ran here before/);
});

t.test("a finished upgrade is rolled back once, without a medium", async (t) => {
  await using at = place();
  await at.first(older, t);
  const none = await at.rollback();
  t.match(none.stderr, /no_earlier_release/);
  t.equal((await at.upgrade(newer)).status, 0);
  const back = await at.rollback();
  t.equal(back.status, 0, back.stderr);
  t.match(back.stderr, /1\.0\.0 runs again after/);
  t.equal(at.current, "1.0.0");
  t.match((await at.rollback()).stderr, /no_earlier_release/);
  t.equal((await at.upgrade(newer)).status, 0, "and upgraded again");
  t.equal(at.current, "1.1.0");
  // What a restore put aside is this appliance's as well: the uninstall at the end leaves nothing.
  mkdirSync(join(at.root, "before-restore-20260101T000000Z", "data"), { recursive: true });
});

t.test("an older bundle is refused unless it is meant", async (t) => {
  await using at = place();
  await at.first(newer, t);
  const refused = await at.upgrade(older);
  t.equal(refused.status, 1);
  t.match(refused.stderr, /release_older/);
  t.equal(at.current, "1.1.0");
  t.same(at.told, [], "nothing was stopped");
  t.match((await at.installer("upgrade", older.bundle, "--yes")).stderr, /release_older/);
  const meant = await at.installer("upgrade", older.bundle, "--yes", "--allow-older");
  t.equal(meant.status, 0, meant.stderr);
  t.equal(at.current, "1.0.0");
});

t.test("the installed release takes a medium that its own key vouches for", async (t) => {
  await using at = place();
  await at.first(older, t);
  const refused = await at.installer("upgrade", foreign.bundle, "--yes");
  t.equal(refused.status, 3, refused.stderr);
  t.match(refused.stderr, /the pinned one/);
  const plan = await at.installer("upgrade", newer.bundle, "--yes", "--dry-run");
  t.match(plan.stderr, /upgrade of 1\.0\.0/);
  t.match(plan.stderr, /\d MB to import/);
  t.equal(at.current, "1.0.0");
  t.same(at.told, [], "nothing was stopped");
  t.equal((await at.installer("upgrade", newer.bundle, "--yes")).status, 0);
  t.equal(at.current, "1.1.0");
  t.match((await at.upgrade(foreign)).stderr, /signing_key_changed/);
  t.equal(at.current, "1.1.0");
});

t.test(
  "whoever asks about a medium is told of its damage, though the store has the bytes",
  async (t) => {
    await using at = place();
    await at.first(newer, t);
    const boot = readFileSync(join(newer.bundle, "boot.sums"), "utf8");
    const folder = join(newer.bundle, "blobs", "sha256");
    const name = readdirSync(folder).find((one) => !boot.includes(one))!;
    const file = join(folder, name);
    const whole = readFileSync(file);
    writeFileSync(
      file,
      whole.map((byte, at) => (at === 0 ? byte ^ 1 : byte)),
    );
    try {
      const plan = await at.upgrade(newer, "--dry-run");
      t.equal(plan.status, 3, plan.stderr);
      t.match(plan.stderr, new RegExp(`${name}: .*damaged`));
      rmSync(file);
      const without = await at.upgrade(newer, "--dry-run");
      t.equal(without.status, 0, "a medium need not carry what is here");
      t.match(without.stderr, /MB of them lie here already/);
    } finally {
      writeFileSync(file, whole);
    }
  },
);

t.test(
  "an uninstall leaves the file systems of others as they are, and empties a disk of its own",
  async (t) => {
    const at = place();
    await at.first(older, t);
    const mounted = (...path: string[]): string => {
      const folder = join(at.root, ...path);
      mkdirSync(folder, { recursive: true });
      execFileSync("mount", ["-t", "tmpfs", "none", folder]);
      t.teardown(() => spawnSync("umount", [folder]));
      writeFileSync(join(folder, "file"), "");
      return folder;
    };
    const [theirs, disk] = [mounted("data", "theirs"), mounted("data", "s3")];
    const refused = await at.installer("uninstall", "--yes");
    t.match(refused.stderr, new RegExp(`mounted at ${theirs}, .*foreign_mount`, "s"));
    t.same(
      [at.current, ...readdirSync(theirs), ...at.told],
      ["1.0.0", "file"],
      "nothing was touched",
    );
    execFileSync("umount", [theirs]);

    const done = await at.installer("uninstall", "--yes");
    t.equal(done.status, 0, done.stderr);
    t.match(done.stderr, `${disk} is a disk of its own: it is empty, and stays mounted`);
    t.same(readdirSync(disk), []);
    execFileSync("umount", [disk]);
    t.same(readdirSync(at.root, { recursive: true }), ["data", "data/s3"]);
    rmSync(at.root, { recursive: true });
  },
);

t.test("of older releases the one before stays, and what runs from another", async (t) => {
  await using at = place();
  await at.first(older, t);
  const script = (): string => join(at.root, "releases", at.folderOf("1.0.0")!, "bin/node");
  t.equal((await at.upgrade(newer)).status, 0);
  // The pinned Node of a small release is a script: what runs is a copy of a real program beside it.
  const program = join(dirname(script()), "sleep");
  copyFileSync("/bin/sleep", program);
  const running = spawn(program, ["600"]);
  t.teardown(() => running.kill("SIGKILL"));
  await once(running, "spawn");
  t.equal((await at.upgrade(broken)).status, 0);
  t.ok(at.folderOf("1.0.0"), "something runs from it");
  running.kill("SIGKILL");
  await once(running, "exit");
  const before = blobs(at);
  t.equal((await at.upgrade(newer, "--allow-older")).status, 0);
  t.equal(at.folderOf("1.0.0"), undefined);
  t.ok(at.folderOf("1.2.0"));
  t.equal(before - blobs(at), 1, "its own script went with it, what others have stayed");
  t.equal((await at.rollback()).status, 0);
  t.equal(at.current, "1.2.0");
});

t.test("once it is staged, an upgrade goes on without its medium", async (t) => {
  await using at = place();
  await at.first(older, t);
  forbid(at);
  const taken = await at.upgrade(broken);
  t.match(taken.stderr, /upgrade_returned/);
  t.equal((await at.upgrade(newer)).status, 0);
  renameSync(newer.bundle, `${newer.bundle}.away`);
  try {
    t.equal((await at.installer("resume")).status, 0);
    t.equal(at.current, "1.1.0");
  } finally {
    renameSync(`${newer.bundle}.away`, newer.bundle);
  }
});

t.test("cut anywhere, an upgrade and a return go on to their end", async (t) => {
  await using at = place();
  await at.first(older, t);
  // What the first one brings in stays: from the second on they are all alike.
  t.equal((await at.upgrade(newer)).status, 0);
  t.equal((await at.rollback()).status, 0);
  const up = await at.pointsOf(() => at.upgrade(newer), t);
  const down = await at.pointsOf(() => at.rollback(), t);
  t.ok(up > 10 && down > 5, `${up} and ${down} points`);
  for (let point = 1; point <= Math.max(up, down); point += STRIDE) {
    if (point <= up) {
      at.cutAt(point);
      t.not((await at.upgrade(newer)).status, 0);
      at.cutAt(null);
      // What the next start does: it ends what was switched, and lets be what was not.
      const settled = await at.settle();
      t.equal(settled.status, 0, `upgrade cut at ${point}: ${settled.stderr}`);
      const next = await at.settle();
      t.same([next.status, next.stderr], [0, ""], "nothing is open any more");
    }
    const whole = await at.upgrade(newer);
    t.equal(whole.status, 0, `upgrade cut at ${point}: ${whole.stderr}`);
    t.equal(at.current, "1.1.0");
    if (point <= down) {
      at.cutAt(point);
      t.not((await at.rollback()).status, 0);
      at.cutAt(null);
      const settled = await at.settle();
      t.equal(settled.status, 0, `return cut at ${point}: ${settled.stderr}`);
    }
    // Whether the return had begun or not, the same command goes on; one that was cut at its very end has ended.
    const back = await at.rollback();
    if (at.current === "1.0.0" && /no_earlier_release/.test(back.stderr)) continue;
    t.equal(back.status, 0, `return cut at ${point}: ${back.stderr}`);
    t.equal(at.current, "1.0.0");
  }
});
