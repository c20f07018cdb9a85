import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { SyncProcess } from "../../src/storage/sync-process.ts";
import { VolumeSync } from "../../src/storage/volume-sync.ts";

t.test("who arrives during a sync shares the next one", async (t) => {
  const running: PromiseWithResolvers<void>[] = [];
  const volume = new VolumeSync("/unused", () => {
    const sync = Promise.withResolvers<void>();
    running.push(sync);
    return sync.promise;
  });
  const first = volume.durable();
  await turn();
  t.equal(running.length, 1);
  const late = [volume.durable(), volume.durable(), volume.durable()];
  await turn();
  t.equal(running.length, 1, "their bytes may be newer than the running sync");
  running[0]?.resolve();
  await first;
  await turn();
  t.equal(running.length, 2, "one sync for all three");
  running[1]?.resolve();
  await Promise.all(late);
});

t.test("a refused sync fails those who waited for it and nobody after them", async (t) => {
  const outcomes = [Promise.reject(new Error("EIO")), Promise.resolve()];
  const volume = new VolumeSync("/unused", () => outcomes.shift() ?? Promise.resolve());
  await t.rejects(volume.durable(), /EIO/);
  await t.resolves(volume.durable());
});

t.test("a real file system is synced", async (t) => {
  await using volume = new VolumeSync(t.testdir());
  await t.resolves(volume.durable());
  await using missing = new VolumeSync("/nowhere/at/all");
  await t.rejects(missing.durable());
});

t.test("syncs go by one shell, and a killed one has a successor", async (t) => {
  const shells = () =>
    readdirSync("/proc")
      .filter((pid) => /^\d+$/.test(pid))
      .filter((pid) => {
        try {
          return (
            /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ===
              String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder)
          );
        } catch {
          return false;
        }
      });
  const folder = t.testdir();
  const one = new SyncProcess(folder);
  for (let n = 0; n < 3; n += 1) await one.sync();
  const [shell] = shells();
  t.equal(shells().length, 1);
  process.kill(Number(shell), "SIGKILL");
  while (shells().length > 0) await turn();
  await one.sync();
  t.equal(shells().length, 1);
  t.not(shells()[0], shell);
  await one[Symbol.asyncDispose]();
  t.same(shells(), [], "nothing is left of it");
});

t.test("a program ends although its shell is there", async (t) => {
  const file = new URL("../../src/storage/sync-process.ts", import.meta.url).href;
  const code = `const { SyncProcess } = await import(${JSON.stringify(file)});
    await new SyncProcess(${JSON.stringify(t.testdir())}).sync(); console.log("synced");`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    ...{ encoding: "utf8", timeout: 60_000 },
  });
  t.equal(child.stdout, "synced\n");
  t.equal(child.status, 0, child.stderr);
});
