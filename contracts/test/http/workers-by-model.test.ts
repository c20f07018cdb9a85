import t from "tap";
import { workersByModel } from "../../src/http/workers-by-model.ts";

t.test("models are read with their numbers, and `none` is nothing", async (t) => {
  t.same(workersByModel("h100=4, cpu=2"), { h100: 4, cpu: 2 });
  t.same(workersByModel("rtx_4090=0"), { rtx_4090: 0 });
  t.same(workersByModel("none"), {});
});

t.test("of what is no such text nothing is read", async (t) => {
  for (const bad of ["", "h100", "h100=-1", "h100=1.5", "H100=1", "cpu=1,cpu=2", "cpu=1,", "a b=1"])
    t.equal(workersByModel(bad), null, bad);
});
