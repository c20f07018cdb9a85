/** Made histories of the kernel on its database: the proof `scheduler-histories` has ten thousand. */
import t from "tap";
import { runKernelHistory } from "./kernel-history.ts";

t.test("in no history a worker has two holders, or a job is lost", async (t) => {
  const from = Date.now() % 1_000_000_007;
  const counts = { jobs: 0, ended: 0 };
  for (const seed of [1, 2, 3, 4, 5, 6, from, from + 1, from + 2, from + 3]) {
    const { jobs, ended } = await runKernelHistory(seed, 20);
    counts.jobs += jobs;
    counts.ended += ended;
  }
  t.ok(counts.jobs > 0);
  t.equal(counts.ended, counts.jobs);
});
