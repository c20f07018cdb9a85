// Loaded before each test file: notes at its end how much CPU it and the children that it waited for have used, and how long it took.
import { appendFileSync, readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Ticks a second of /proc/self/stat on x86-64: man 5 proc_pid_stat. */
const TICKS = 100;

process.on("exit", () => {
  const file = process.env.RT_TEST_CPU_FILE;
  if (file === undefined || !isMainThread) return;
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  const wall = performance.now() / 1000;
  appendFileSync(file, `${(ticks / TICKS).toFixed(2)}\t${wall.toFixed(2)}\t${process.argv[1]}\n`);
});
