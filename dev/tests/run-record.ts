import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { wholeOf } from "./file-costs.ts";
import type { TierOutcome } from "./run-tests.ts";
import type { Tier } from "./tier.ts";

export type TestRun = {
  /** Of the working tree; with "+" where it had changes. */
  commit: string;
  /** ISO 8601, of its end. */
  at: string;
  passed: number;
  failed: number;
  skipped: number;
  /** Processes that kept a processor busy each beside it. */
  busy: number;
  wallSeconds: number;
  /** Of the whole machine, without what kept it busy. */
  cpuSeconds: number;
  /** Wall seconds of each phase. */
  phases: Readonly<Record<string, number>>;
  /** Tiers overlap. */
  tiers: Partial<Record<Tier, TierCost>>;
  processors: number;
  memoryGiB: number;
  /** The first lines of what failed. */
  failures: readonly string[];
};

export type TierCost = {
  /** From the start of its first file to the end of its last. */
  wallSeconds: number;
  /** Of its files, and of what they alone started. */
  cpuSeconds: number;
};

const KEPT = 40;

export function costsOfTiers(outcomes: ReadonlyMap<Tier, TierOutcome>): TestRun["tiers"] {
  return Object.fromEntries(
    [...outcomes].map(([tier, { wallSeconds, costs }]) => [
      tier,
      {
        wallSeconds: Math.round(wallSeconds),
        cpuSeconds: Math.round(costs.reduce((sum, cost) => sum + wholeOf(cost), 0)),
      },
    ]),
  );
}

/** Adds a run to the record of the last ones, newest last. */
export function recordRun(file: string, run: TestRun): void {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as TestRun[]) : [];
  writeFileSync(file, `${JSON.stringify([...before, run].slice(-KEPT), null, 2)}\n`);
}

export function thisMachine(): Pick<TestRun, "processors" | "memoryGiB"> {
  return { processors: cpus().length, memoryGiB: Math.round(totalmem() / 1024 ** 3) };
}

export function commitOf(repository: string): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: repository, encoding: "utf8" }).trim();
  return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain") === "" ? "" : "+"}`;
}
