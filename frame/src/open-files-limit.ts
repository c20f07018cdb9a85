import { readFileSync } from "node:fs";

/** Data loaders with many workers need far more than the 1,024 that are usual. */
const WANTED = 65_536;

/** How many files a job may have open at most, by this process's own limit: to allow more takes a right that not every root has. */
export function openFilesLimit(limits = readFileSync("/proc/self/limits", "utf8")): number {
  const [, hard = ""] = /^Max open files +\S+ +(\d+)/m.exec(limits) ?? [];
  return hard === "" ? WANTED : Math.min(WANTED, Number(hard));
}
