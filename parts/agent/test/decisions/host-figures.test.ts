import t from "tap";
import { busyMsOf, memoryOf, processorsOf } from "../../src/decisions/host-figures.ts";

const STAT = [
  "cpu  3543855 68560 896342 831805 27769 0 17913 7560 100 0",
  "cpu0 1761218 34206 434057 450729 8609 0 3880 3757 50 0",
  "cpu1 1782637 34354 462285 381076 19159 0 14032 3803 50 0",
  "intr 1",
].join("\n");

t.test(
  "processors are busy but for idling and waiting; a guest's time is in the user's",
  async (t) => {
    t.equal(busyMsOf(STAT), (3_543_855 + 68_560 + 896_342 + 17_913 + 7_560) * 10);
    t.equal(processorsOf(STAT), 2);
    t.equal(busyMsOf(""), null);
    t.equal(processorsOf(""), null);
  },
);

t.test("memory that could be given back is not in use", async (t) => {
  const text = "MemTotal:       24684084 kB\nMemFree:  9192680 kB\nMemAvailable:   20152400 kB\n";
  t.same(memoryOf(text), { bytes: 24_684_084 * 1024, inUseBytes: 4_531_684 * 1024 });
  t.equal(memoryOf("MemTotal: 1 kB\n"), null);
});
