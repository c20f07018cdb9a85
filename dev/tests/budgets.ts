/** How much CPU a test file may use, and which files may use more, each with its reason. A file over its budget fails the run's end. */
import { type FileCost, wholeOf } from "./file-costs.ts";
import { type Tier, tierOf } from "./tier.ts";

/** Seconds of CPU. */
const BUDGETS: Readonly<Record<Tier, number>> = {
  unit: 30,
  engines: 60,
  browser: 60,
  acceptance: 60,
};

export type Exception = {
  /** Seconds of CPU that it may use. */
  cpuSeconds: number;
  reason: string;
};

/** Keep this short: each line is paid by everybody, at each change. */
export const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  "parts/inference-gateway/test/openai.engines.test.ts": {
    cpuSeconds: 90,
    reason: "a real language model reads and writes on the processors, for each promise of the API",
  },
  "parts/coordinator/test/identity/directories.browser.test.ts": {
    cpuSeconds: 100,
    reason: "two Keycloaks that trust each other, a directory, and a browser for each way in",
  },
  "parts/agent/test/distributed.engines.test.ts": {
    cpuSeconds: 150,
    reason:
      "two nodes pull the release's image, and six ranks of torch train in it, one of which is killed",
  },
  "parts/agent/test/runners-faults.engines.test.ts": {
    cpuSeconds: 160,
    reason: "every kind of fault of a user's training ends a real attempt of NVFlare with torch",
  },
  "parts/agent/test/runners-resume.engines.test.ts": {
    cpuSeconds: 120,
    reason:
      "nine attempts of NVFlare with torch, which are lost, make way, go on, and are compared",
  },
  "parts/agent/test/runners.engines.test.ts": {
    cpuSeconds: 80,
    reason: "a real federation of NVFlare with torch, from its first round to its model",
  },
  "acceptance/test/alone/day-of-each-role.test.ts": {
    cpuSeconds: 75,
    reason: "a browser walks through every page as each role of an installed appliance",
  },
  "acceptance/test/alone/upgrade.test.ts": {
    cpuSeconds: 120,
    reason: "a whole appliance is upgraded and rolled back beneath a job and an endpoint",
  },
};

/** One line for each file that used more than it may. */
export function overBudget(
  costs: readonly FileCost[],
  exceptions: Readonly<Record<string, Exception>> = EXCEPTIONS,
): string[] {
  return costs.flatMap((cost) => {
    const allowed = exceptions[cost.file]?.cpuSeconds ?? BUDGETS[tierOf(cost.file)];
    return wholeOf(cost) <= allowed
      ? []
      : [
          `${cost.file} used ${wholeOf(cost).toFixed(1)} s of CPU, and ${allowed} s are its budget: make it cheaper, or state why it can't be in dev/tests/budgets.ts`,
        ];
  });
}
