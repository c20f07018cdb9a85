import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Takes away every mount below a folder, the newest first: one that was laid over another hides what is mounted beneath that.
 * @throws where one is in use
 */
export function unmountBelow(folder: string): void {
  unmountAll(mountPoints().filter((point) => point.startsWith(`${folder}/`)));
}

/** @param points in the order in which they were mounted @throws where one is in use */
export function unmountAll(points: readonly string[]): void {
  for (const point of points.toReversed()) execFileSync("umount", ["--detach-loop", point]);
}

/** Lists the places in the order in which they were made. Source: proc_pid_mountinfo(5), whose fifth field this is. */
export function mountPoints(): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n");
  return lines.map((line) => unescape(line.split(" ")[4] ?? ""));
}

/** The kernel writes blank, tab, line break and backslash as three octal digits. */
function unescape(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}
