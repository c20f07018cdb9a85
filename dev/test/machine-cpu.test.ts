import t from "tap";
import { machineCpuSeconds } from "../machine-cpu.ts";

t.test("time that the CPUs worked counts, waiting for a disk and idling don't", async (t) => {
  t.equal(
    machineCpuSeconds("cpu  100 200 300 9999 8888 50 50 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0\n"),
    7,
  );
});
