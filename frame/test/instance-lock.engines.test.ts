import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import t, { type Test } from "tap";
import { acquireInstanceLock, tryInstanceLock } from "../src/instance-lock.ts";

const MODULE = join(import.meta.dirname, "../src/instance-lock.ts");

/** A process that holds the folder, or fails to. */
async function holder(t: Test, folder: string) {
  const text = `import { tryInstanceLock } from ${JSON.stringify(MODULE)};
process.chdir(${JSON.stringify(folder)});
console.log(await tryInstanceLock(".") === null ? "no" : "yes");
setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const [word] = (await once(child.stdout, "data")) as [Buffer];
  return {
    holds: String(word) === "yes\n",
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

t.test("one process holds a folder, and the kernel frees it when that one is killed", async (t) => {
  const folder = t.testdir();
  for (const life of ["first", "second", "third"]) {
    const one = await holder(t, folder);
    t.ok(one.holds, `${life} life`);
    t.notOk((await holder(t, folder)).holds, "another one");
    t.equal(await tryInstanceLock(folder), null, "another one here");
    await one.kill();
  }
  t.same(readdirSync(folder), ["serving"], "nothing else is left");
});

t.test("of many that find a killed one's socket at once, one holds the folder", async (t) => {
  const folder = t.testdir();
  for (let round = 0; round < 20; round++) {
    await (await holder(t, folder)).kill();
    const all = await Promise.all(Array.from({ length: 12 }, () => tryInstanceLock(folder)));
    const held = all.filter((one) => one !== null);
    t.equal(held.length, 1, `round ${round}`);
    t.equal(await tryInstanceLock(folder), null, "the one that was quicker holds");
    for (const one of held) one[Symbol.dispose]();
  }
});

t.test(
  "whose socket was removed by another, before it took calls, does not hold, and says no more than that",
  async (t) => {
    const folder = t.testdir();
    const text = `const { readdirSync, rmSync } = require("node:fs");
const { workerData: { folder, enough } } = require("node:worker_threads");
while (Atomics.load(enough, 0) === 0)
  for (const name of readdirSync(folder))
    try {
      rmSync(folder + "/" + name, { recursive: true, force: true });
    } catch {}`;
    const enough = new Int32Array(new SharedArrayBuffer(4));
    const removing = new Worker(text, { eval: true, workerData: { folder, enough } });
    t.teardown(() => removing.terminate());
    await once(removing, "online");
    for (let round = 0; round < 200; round++) (await tryInstanceLock(folder))?.[Symbol.dispose]();
    Atomics.store(enough, 0, 1);
    await once(removing, "exit");
    t.equal(
      await tryInstanceLock(folder).then((held) => held === null),
      false,
      "once nobody removes anything",
    );
  },
);

t.test(
  "a folder whose name alone is longer than a socket's path may be is held as any other",
  async (t) => {
    const folder = join(t.testdir(), "long".repeat(30), "longer".repeat(20));
    mkdirSync(folder, { recursive: true });
    const one = await acquireInstanceLock(folder);
    await t.rejects(acquireInstanceLock(folder), { code: "already_running", message: folder });
    one[Symbol.dispose]();
    t.same(readdirSync(join(folder, "serving")), [], "whoever gives it up leaves no socket");
    (await acquireInstanceLock(folder))[Symbol.dispose]();
  },
);
