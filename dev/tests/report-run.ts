/** What a run says at its end. Pure. */
import { overBudget } from "./budgets.ts";
import { listDearest, listShared } from "./file-costs.ts";
import type { TierOutcome } from "./run-tests.ts";
import { describeFailure, listFailures } from "./tap-failure.ts";
import { costsOfTiers } from "./run-record.ts";
import { sumUp, type TapFailure } from "./tap-summary.ts";
import type { Tier } from "./tier.ts";
import type { Verdict } from "./verdicts.ts";

export type RunReport = {
  outcomes: ReadonlyMap<Tier, TierOutcome>;
  /** File → its verdict of an earlier run. */
  cached: ReadonlyMap<string, Verdict>;
  /** What the uninstall left on the host. */
  leftovers: readonly string[];
  /** Parts that no single file has → seconds of CPU; those of single files are in their own costs, too. */
  shared: ReadonlyMap<string, number>;
  /** Of the whole machine. */
  cpuSeconds: number;
  /** No files were named. */
  isWhole: boolean;
  /** Processes kept the processors busy: what the files used says little. */
  isBusy: boolean;
  /** Nothing could be reached by what changed. */
  mayBeNothing: boolean;
};

export type RunEnd = {
  passed: number;
  failed: number;
  skipped: number;
  failures: readonly TapFailure[];
  /** Files over their budget. */
  dear: readonly string[];
  isGood: boolean;
  /** The last line: `N passed, N failed`. */
  closing: string;
};

export function evaluateRun({
  outcomes,
  cached,
  leftovers,
  isBusy,
  mayBeNothing,
}: RunReport): RunEnd {
  const { passed, skipped, failures } = sumUp(outcomes.values());
  const judged = [...outcomes.values()].flatMap(({ costs, makers }) =>
    costs.filter(({ file }) => !makers.has(file)),
  );
  const dear = isBusy ? [] : overBudget(judged);
  const failed = failures.length + leftovers.length + dear.length;
  const kept = [...cached.values()].reduce((sum, verdict) => sum + verdict.passed, 0);
  const apart = [
    ...(kept > 0 ? [`${kept} cached`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  return {
    ...{ passed, failed, skipped, failures, dear },
    isGood: failed === 0 && (passed + kept > 0 || mayBeNothing),
    closing: [`${passed} passed`, `${failed} failed`, ...apart].join(", "),
  };
}

/** Blocks of text; whoever sees the last lines alone sees every failure by name. */
export function describeRun(
  { outcomes, leftovers, shared, cpuSeconds, isWhole }: RunReport,
  { failures, dear }: RunEnd,
): string[] {
  const costs = [...outcomes.values()].flatMap((outcome) => outcome.costs);
  const files = new Set(costs.map(({ file }) => file));
  const parts = new Map([...shared].filter(([name]) => !files.has(name)));
  return [
    ...leftovers,
    ...failures.map((failure) => describeFailure(failure)),
    ...(isWhole && costs.length > 0
      ? [listDearest(costs), listShared(parts, costs, cpuSeconds), listTiers(outcomes)]
      : []),
    ...(failures.length > 0 ? [listFailures(failures)] : []),
    ...(dear.length > 0 ? [dear.join("\n")] : []),
  ];
}

function listTiers(outcomes: RunReport["outcomes"]): string {
  const rows = Object.entries(costsOfTiers(outcomes)).map(
    ([tier, { cpuSeconds, wallSeconds }]) =>
      `${String(cpuSeconds).padStart(7)}${String(wallSeconds).padStart(9)}  ${tier}`,
  );
  return ["  CPU s   wall s  tier", ...rows].join("\n");
}
