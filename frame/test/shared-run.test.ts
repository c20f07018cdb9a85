import t from "tap";
import { SharedRun } from "../src/shared-run.ts";

t.test(
  "whoever asks while a run is under way shares it, and the next one begins anew",
  async (t) => {
    const shared = new SharedRun<number>();
    let runs = 0;
    const work = async (): Promise<number> => {
      runs += 1;
      await new Promise(setImmediate);
      return runs;
    };
    t.notOk(shared.isUnderWay);
    const [one, other] = [shared.run(work), shared.run(work)];
    t.ok(shared.isUnderWay);
    t.same([await one, await other], [1, 1]);
    await shared.idle();
    t.notOk(shared.isUnderWay);
    t.equal(await shared.run(work), 2);
  },
);

t.test("one that fails says so to all who share it, and is over", async (t) => {
  const shared = new SharedRun();
  const failing = async (): Promise<void> => {
    await new Promise(setImmediate);
    throw new Error("no");
  };
  const asked = [shared.run(failing), shared.run(failing), shared.idle()];
  for (const each of asked) await t.rejects(each, { message: "no" });
  t.notOk(shared.isUnderWay);
  await t.resolves(shared.idle());
});
