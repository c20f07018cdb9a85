/** A restore that is cut between any two renames goes on when it is asked for again. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { decidePutBack, openPutBack, type PutBack, putBack } from "../../src/backup/put-back.ts";

const PLAN: PutBack = {
  ...{ backup: "20261127T101500Z", isHome: true, carried: ["secrets/auditd"] },
  ...{ aside: ["audit", "agent", "vault"], in: ["audit", "s3"] },
};
const tree = {
  etc: { "appliance.json": "here", secrets: { auditd: { key: "stays" } } },
  data: {
    ...{ audit: { log: "here" }, agent: { node: "here" }, registry: { image: "here" } },
    vault: { sealed: "here" },
  },
  restoring: {
    etc: { "appliance.json": "backup", secrets: { coordinator: { key: "backup" } } },
    // What the plan does not take stays out of it, and keeps nothing that is here in its place.
    data: { audit: { log: "backup" }, s3: { object: "backup" }, vault: { sealed: "backup" } },
  },
};

function judge(t: Test, root: string): void {
  const text = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
  t.equal(text("etc", "appliance.json"), "backup");
  t.equal(text("etc", "secrets", "coordinator", "key"), "backup");
  t.equal(text("etc", "secrets", "auditd", "key"), "stays");
  t.equal(text("data", "audit", "log"), "backup");
  t.equal(text("data", "s3", "object"), "backup");
  t.equal(text("data", "registry", "image"), "here");
  t.notOk(existsSync(join(root, "data", "agent")));
  const aside = `before-restore-${PLAN.backup}`;
  t.equal(text(aside, "etc", "appliance.json"), "here");
  t.equal(text(aside, "data", "audit", "log"), "here");
  t.equal(text(aside, "data", "agent", "node"), "here");
  t.notOk(existsSync(join(root, "data", "vault")));
  t.equal(text(aside, "data", "vault", "sealed"), "here");
  t.notOk(existsSync(join(root, "restoring")), "nothing is left to go on with");
}

t.test("what is here is put aside, and the backup takes its place", async (t) => {
  const root = t.testdir(tree);
  const folders = { root, staging: join(root, "restoring") };
  t.equal(openPutBack(folders), null, "before it was decided there is nothing to go on with");
  decidePutBack(folders, PLAN);
  t.same(openPutBack(folders), PLAN);
  putBack(folders, PLAN);
  judge(t, root);
  t.equal(openPutBack(folders), null);
});

t.test("one that is killed before any of its renames goes on", async (t) => {
  const put = join(import.meta.dirname, "..", "..", "src", "backup", "put-back.ts");
  for (let at = 1; ; at += 1) {
    const root = t.testdir(tree);
    const folders = { root, staging: join(root, "restoring") };
    decidePutBack(folders, PLAN);
    // Of the process that does it, the rename before which it is killed.
    const program = `
      const fs = require("node:fs");
      const { syncBuiltinESMExports } = require("node:module");
      const rename = fs.renameSync;
      let count = 0;
      fs.renameSync = (...args) => (++count === ${at} ? process.kill(process.pid, "SIGKILL") : rename(...args));
      syncBuiltinESMExports();
      import(${JSON.stringify(put)}).then(({ putBack }) => putBack(${JSON.stringify(folders)}, ${JSON.stringify(PLAN)}));`;
    const { signal, status } = spawnSync(process.execPath, ["-e", program], { encoding: "utf8" });
    if (signal === null) {
      t.equal(status, 0);
      t.ok(at > 6, `${at - 1} renames`);
      break;
    }
    const plan = openPutBack(folders);
    t.same(plan, PLAN, `cut before rename ${at}`);
    putBack(folders, PLAN);
    judge(t, root);
  }
});
