import { parseArgs } from "node:util";
import { isTier, type Tier, TIERS, tierOf } from "./tier.ts";

export const HELP = `usage: npm test [-- [--tier TIER] [--since REV] [FILE…]]

Runs every test of every room, cheapest tier first: ${TIERS.join(", ")}.

  --tier TIER   that tier alone; also as npm run test:unit, test:engines, test:browser, test:acceptance
  --since REV   the tests alone that a change since REV can reach, uncommitted changes included
  FILE…         these files alone

  npm test -- --since origin/main
  npm test -- coordinator/test/http/*.test.ts

Where no files are named, one that needs engines and failed runs again, alone; what passes then is counted as unsteady.
Ends with "N passed, N failed"; exit code 0: nothing failed and something ran, or nothing was reached; 1: something failed; 2: wrong arguments.
`;

export class TestOptionsError extends Error {
  readonly code = "test_options_wrong";
}

export type TestOptions = {
  help: boolean;
  tier: Tier | null;
  since: string | null;
  files: readonly string[];
};

/** @throws TestOptionsError saying what is wrong and what is allowed */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals } = parse(args);
  const { tier = null, since = null, help = false } = values;
  if (tier !== null && !isTier(tier))
    throw new TestOptionsError(`there is no tier ${JSON.stringify(tier)}: say ${TIERS.join(", ")}`);
  if (since !== null && positionals.length > 0)
    throw new TestOptionsError("--since chooses the files: name none beside it");
  return { help, tier, since, files: positionals };
}

/** The files of one tier, in order; those named on the command line count as they are, whatever their tier. */
export function filesOfTier(files: readonly string[], tier: Tier, wanted: Tier | null): string[] {
  return wanted !== null && wanted !== tier ? [] : files.filter((file) => tierOf(file) === tier);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { tier: { type: "string" }, since: { type: "string" }, help: { type: "boolean" } },
    });
  } catch (error) {
    throw new TestOptionsError(error instanceof Error ? error.message : String(error));
  }
}
