import { readFileSync } from "node:fs";

/** Where the kernel would number more, Podman takes this. */
const MOST = 2 ** 20;

/**
 * How many processes and threads a user may have at most, by this process's own limit: to allow more takes a right that not every root has.
 * Podman lowers its own to as many as the kernel numbers.
 */
export function processLimit(
  limits = read("/proc/self/limits"),
  pidMax = read("/proc/sys/kernel/pid_max"),
): number {
  const [, hard = ""] = /^Max processes +\S+ +(\d+)/m.exec(limits) ?? [];
  return Math.min(hard === "" ? MOST : Number(hard), Number(pidMax), MOST);
}

function read(file: string): string {
  return readFileSync(file, "utf8");
}
