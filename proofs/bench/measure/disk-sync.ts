import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { quantile } from "../../statistics.ts";

const TIMES = 2_000;
const BYTES = 4_096;

/** How long this disk takes to keep a small piece of a growing file, milliseconds: what nobody who keeps a record before answering can be faster than. */
export function measureDiskSync(folder: string): { p50_ms: number; p99_ms: number } {
  const file = join(folder, "disk-sync");
  const fd = openSync(file, "w");
  try {
    const piece = Buffer.alloc(BYTES, 1);
    const took = Array.from({ length: TIMES }, () => {
      writeSync(fd, piece);
      const from = performance.now();
      fdatasyncSync(fd);
      return performance.now() - from;
    });
    return { p50_ms: hundredths(quantile(took, 0.5)), p99_ms: hundredths(quantile(took, 0.99)) };
  } finally {
    closeSync(fd);
    rmSync(file);
  }
}

function hundredths(value: number): number {
  return Math.round(100 * value) / 100;
}
