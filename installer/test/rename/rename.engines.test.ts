/** An installed appliance takes another name, with the real installer on small releases in the real format: also cut, refused, and across an upgrade. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { CustomersPki } from "@resontech/house/customers-pki";
import { type Ended, run } from "../helper/cut-installs.ts";
import {
  APPLIANCE,
  flagsFor,
  makeSmallRelease,
  readIfThere,
  type SmallRelease,
} from "../helper/small-release.ts";

/** Both lead to this host, without an entry anywhere. */
const [NAME, OTHER] = ["localhost", "127.0.0.1"];
/** Every so many of the points at which something has just become durable. */
const STRIDE = 5;

const base = mkdtempSync(join(tmpdir(), "rt-rename-"));
chmodSync(base, 0o755);
t.setTimeout(600_000);
t.teardown(() => rmSync(base, { recursive: true, force: true }));

function release(version: string): SmallRelease {
  const dir = join(base, version);
  mkdirSync(dir);
  const appliance = APPLIANCE.replace("verb=$3\n", `verb=$3\necho "$*" >>"$root/../told"\n`);
  return makeSmallRelease(dir, { version, appliance, keyFile: join(base, "key.pem") });
}
const [older, newer] = [release("1.0.0"), release("1.1.0")];

let count = 0;
async function installed(t: Test) {
  count += 1;
  const parent = join(base, `place-${count}`);
  const root = join(parent, "resontech");
  mkdirSync(parent);
  const installer = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
    run(
      join(root, "current", "bin", "node"),
      [join(root, "current", "app", "installer.mjs"), ...args, "--root", root],
      env,
    );
  const install = ({ bundle }: SmallRelease, ...flags: string[]): Promise<Ended> =>
    run("sh", [join(bundle, "install.sh"), "--root", root, "--yes", ...flags]);
  const flags = flagsFor(root, `rename-${process.pid}-${count}`, 24_600 + count * 10).slice(2);
  const first = await install(older, ...flags, "--name", NAME, "--address", "127.0.0.1");
  t.equal(first.status, 0, first.stderr);
  t.teardown(() => installer({}, "uninstall", "--yes"));
  writeFileSync(join(parent, "told"), "");
  return {
    ...{ root, parent, install, installer },
    rename: (name: string, env: NodeJS.ProcessEnv = {}, ...more: string[]) =>
      installer(env, "rename", name, ...(more.length === 0 ? ["--yes"] : more)),
    config: () =>
      JSON.parse(readFileSync(join(root, "etc", "appliance.json"), "utf8")) as Record<
        string,
        unknown
      >,
    told: () => readIfThere(join(parent, "told")).trim().split("\n"),
  };
}

t.test(
  "it says what it costs, starts everything under the new name, and keeps it in upgrade and rollback",
  async (t) => {
    const { rename, config, told, install, installer } = await installed(t);
    const plan = await rename(OTHER, {}, "--dry-run");
    t.equal(plan.status, 0, plan.stderr);
    t.match(plan.stderr, /passkeys are bound to localhost/);
    t.equal(config()["name"], NAME);
    t.same(told(), [""], "nothing was stopped");

    const done = await rename(OTHER);
    t.equal(done.status, 0, done.stderr);
    t.match(config(), { name: OTHER, formerName: { name: NAME } });
    t.match(told().join("\n"), /stop --for 900 --keep-door\n.*start\n.*image check\n.*first-boot/s);
    t.match((await rename(OTHER)).stderr, /name_unchanged/);

    t.equal((await install(newer)).status, 0);
    t.match(config(), { name: OTHER, formerName: { name: NAME } }, "an upgrade asks nobody");
    t.equal((await rename(NAME)).status, 0);
    t.equal((await installer({}, "rollback", "--yes")).status, 0);
    t.match(config(), { name: NAME }, "a release comes back, and no name");
  },
);

t.test("what can't be the name is refused, and nothing has changed", async (t) => {
  const { root, rename, config, told } = await installed(t);
  t.match((await rename("no name")).stderr, /name_invalid/);
  const nowhere = await rename("nowhere.invalid");
  t.equal(nowhere.status, 1);
  t.match(nowhere.stderr, /nowhere\.invalid does not resolve/);
  const folder = join(root, "etc", "door-certificate");
  mkdirSync(folder);
  const pki = new CustomersPki(join(root, "data", "pki"));
  writeFileSync(join(folder, "door.crt"), pki.leaf().cert);
  const refused = await rename(OTHER);
  t.match(refused.stderr, /name_missing.*certificates use/s);
  t.equal(config()["name"], NAME);
  t.same(told(), [""], "nothing was stopped");
});

t.test("cut anywhere, it goes on by the same command or at the next start", async (t) => {
  const { parent, rename, config, installer } = await installed(t);
  const counted = join(parent, "count");
  t.equal((await rename(OTHER, { RT_TEST_COUNT_FILE: counted })).status, 0);
  const points = Number(readFileSync(counted, "utf8"));
  t.ok(points > 10);
  let [from, to] = [OTHER, NAME];
  for (let point = 1; point <= points; point += STRIDE) {
    const cut = await rename(to, { RT_TEST_CRASH_AT: String(point) });
    t.not(cut.status, 0, `cut at ${point}`);
    // Each start settles what had begun to stop parts; before that nothing is lost by asking again.
    if (point % 2 === 0) await installer({}, "settle");
    if (config()["name"] !== to || point % 2 === 1) {
      const again = await rename(to);
      t.ok(again.status === 0 || /name_unchanged/.test(again.stderr), again.stderr);
    }
    t.match(config(), { name: to, formerName: { name: from } });
    [from, to] = [to, from];
  }
});

t.test("it waits for the end of an upgrade that was cut, and not of another rename", async (t) => {
  const { root, rename, config, installer } = await installed(t);
  const begun = await rename(OTHER, { RT_TEST_CRASH_AT: "1" });
  t.not(begun.status, 0);
  const back = await rename(NAME);
  t.ok(back.status === 0 || /name_unchanged/.test(back.stderr), back.stderr);
  t.equal(config()["name"], NAME);
  const flags = ["--root", root, "--yes"];
  const env = { RT_TEST_CRASH_AT: "4" };
  t.not((await run("sh", [join(newer.bundle, "install.sh"), ...flags], env)).status, 0);
  t.match((await rename(OTHER)).stderr, /install_open.*appliance resume/s);
  t.equal((await installer({}, "resume")).status, 0);
  t.equal((await rename(OTHER)).status, 0);
});
