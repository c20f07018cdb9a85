import { readFileSync } from "node:fs";

/** Ticks a second of /proc/stat, as every Linux on x86-64 has them: man 5 proc_stat. */
const TICKS = 100;

/** Seconds that this machine's CPUs have worked since it started, in whatever process, children that outlive their parents included. */
export function machineCpuSeconds(stat: string = readFileSync("/proc/stat", "utf8")): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (stat.split("\n")[0] ?? "")
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softirq) / TICKS;
}
