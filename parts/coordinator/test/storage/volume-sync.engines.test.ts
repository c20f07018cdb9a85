import t from "tap";
import { VolumeSync } from "../../src/storage/volume-sync.ts";

t.test("who arrives during a sync shares the next one", async (t) => {
  const running: PromiseWithResolvers<void>[] = [];
  const volume = new VolumeSync("/unused", () => {
    const sync = Promise.withResolvers<void>();
    running.push(sync);
    return sync.promise;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
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
  await t.resolves(new VolumeSync(t.testdir()).durable());
  await t.rejects(new VolumeSync("/nowhere/at/all").durable());
});
