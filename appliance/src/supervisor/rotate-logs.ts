import {
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";

const MAX_BYTES = 16 * 1024 * 1024;
const KEEP = 4;

/**
 * Rotates every `*.log` of the folder that has grown over 16 MiB; four older ones are kept. Parts append to their log by themselves, so it
 * is copied and cut, never renamed under them; what is written between copy and cut is lost, at most a line or two in 16 MiB. The older
 * ones move only once the copy stands: a full disk keeps what there is.
 */
export function rotateLogs(folder: string, maxBytes: number = MAX_BYTES): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (!name.endsWith(".log") || statSync(file).size <= maxBytes) continue;
    const copy = `${file}.copy`;
    copyWhole(file, copy);
    for (let age = KEEP - 1; age >= 1; age -= 1)
      if (existsSync(`${file}.${age}`)) renameSync(`${file}.${age}`, `${file}.${age + 1}`);
    renameSync(copy, `${file}.1`);
    truncateSync(file, 0);
  }
}

function copyWhole(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}
