/** How many files a job may have open: data loaders with many workers need far more than the engine's 1,024. */
import { readFileSync } from "node:fs";

const WANTED = 65_536;

/** @param limits text of `/proc/<pid>/limits`: nobody may be given more than its hard limit */
export function openFilesOf(limits: string): number {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1];
  return hard === undefined || hard === "unlimited" ? WANTED : Math.min(WANTED, Number(hard));
}

/** As much as this host allows its engine, which was started as this process was. */
export const OPEN_FILES = openFilesOf(readFileSync("/proc/self/limits", "utf8"));
