import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { ProgramFolder } from "../develop/program-folder.ts";

/** `current` of an appliance, as far as it is linked. */
function installed(t: Test): string {
  return t.testdir({
    bin: { node: "" },
    app: {
      "coordinator.mjs": "installed",
      "auditd.mjs": "installed",
      node_modules: { sqlite: {} },
      policies: { cedar: { "old.cedar": "" } },
    },
  });
}

t.test("programs look beside themselves: all but their own files are the release's", async (t) => {
  const current = installed(t);
  using folder = new ProgramFolder(current, ["coordinator.mjs"], 9229);
  t.notOk(existsSync(join(folder.app, "coordinator.mjs")), "that one is yet to be compiled");
  for (const name of ["auditd.mjs", "node_modules"])
    t.equal(readlinkSync(join(folder.app, name)), join(current, "app", name));
});

t.test("rules are this tree's, for they belong to the code that asks them", async (t) => {
  using folder = new ProgramFolder(installed(t), ["coordinator.mjs"], 9229);
  const cedar = join(folder.app, "policies", "cedar");
  t.notOk(lstatSync(cedar).isSymbolicLink() || existsSync(join(cedar, "old.cedar")));
  t.same(readdirSync(cedar), readdirSync(join(import.meta.dirname, "../../policies/cedar")));
});

t.test("users of parts read it whatever the mask is, and change nothing", async (t) => {
  const before = process.umask(0o077);
  t.teardown(() => process.umask(before));
  using folder = new ProgramFolder(installed(t), ["coordinator.mjs"], 9229);
  writeFileSync(join(folder.app, "coordinator.mjs"), "compiled");
  mkdirSync(join(folder.app, "below"));
  folder.refresh();
  const modeOf = (path: string): number => statSync(path).mode & 0o777;
  for (const path of [dirname(folder.app), folder.app, join(folder.app, "below"), folder.node])
    t.equal(modeOf(path), 0o755, path);
  for (const name of ["coordinator.mjs", "policies/realm.json"])
    t.equal(modeOf(join(folder.app, name)), 0o644, name);
});

t.test("its Node is the release's, with an inspector on this host alone", async (t) => {
  const current = installed(t);
  using folder = new ProgramFolder(current, [], 9333);
  const text = readFileSync(folder.node, "utf8");
  t.match(text, `exec '${join(current, "bin", "node")}' --inspect=127.0.0.1:9333 `);
});

t.test("nothing is left of it, and the release is as it was", async (t) => {
  const current = installed(t);
  let app = "";
  {
    using folder = new ProgramFolder(current, ["coordinator.mjs"], 9229);
    app = folder.app;
  }
  t.notOk(existsSync(dirname(app)));
  t.equal(readFileSync(join(current, "app/coordinator.mjs"), "utf8"), "installed");
  t.ok(existsSync(join(current, "app/node_modules/sqlite")));
});
