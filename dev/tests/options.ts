import { parseArgs } from "node:util";
import { isTier, type Tier, TIERS, tierOf } from "./tier.ts";

export const HELP = `usage: npm test [-- [--tier TIER] [--since REV] [--fresh] [--busy N] [--record] [--keep] [FILE|FOLDER…]]

Runs every test of every room, all tiers beside one another: ${TIERS.join(", ")}.
A file that passed on this machine, and of which nothing that it can see has changed since, is told as cached.

  --tier TIER   that tier alone; also as npm run test:unit, test:engines, test:browser, test:acceptance
  --since REV   the tests alone that a change since REV can reach, uncommitted changes included
  --fresh       run what is cached, too
  --busy N      with N processes beside that keep a processor busy each; npm run test:steady has two
  --record      add the run to docs/developer/test-runs.json, where it was whole and fresh
  --keep        leave what the named files made in tap's folders, to be looked at; processes end as always
  FILE|FOLDER…  these files alone, or those below a folder, cached or not

  npm test -- --since origin/main
  npm test -- parts/coordinator/test/http
  npm test -- appliance/test/backup/follow-and-restore.engines.test.ts --keep

Ends with "N passed, N failed"; exit code 0: nothing failed and something ran or is cached, or nothing was reached; 1: something failed; 2: wrong arguments.
`;

export class TestOptionsError extends Error {
  readonly code = "test_options_wrong";
}

export type TestOptions = {
  help: boolean;
  tier: Tier | null;
  since: string | null;
  isFresh: boolean;
  isRecorded: boolean;
  /** What the files made stays in tap's folders. */
  isKept: boolean;
  /** How many processes keep a processor busy beside the run. */
  busy: number;
  files: readonly string[];
};

const MAX_BUSY = 16;

/** @throws TestOptionsError saying what is wrong and what is allowed */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals: files } = parse(args);
  const {
    tier = null,
    since = null,
    help = false,
    fresh = false,
    record = false,
    keep = false,
  } = values;
  if (tier !== null && !isTier(tier))
    throw new TestOptionsError(`there is no tier ${JSON.stringify(tier)}: say ${TIERS.join(", ")}`);
  if (since !== null && files.length > 0)
    throw new TestOptionsError("--since chooses the files: name none beside it");
  if (keep && files.length === 0) throw new TestOptionsError("--keep is for few files: name them");
  const isWhole = tier === null && since === null && files.length === 0;
  if (record && !isWhole)
    throw new TestOptionsError("--record is for whole runs: name no tier, revision or file");
  const busy = Number(values.busy ?? 0);
  if (!Number.isInteger(busy) || busy < 0 || busy > MAX_BUSY)
    throw new TestOptionsError(`--busy takes a whole number from 0 to ${MAX_BUSY}`);
  return {
    ...{ help, tier, since, files, busy, isRecorded: record, isKept: keep },
    isFresh: fresh || record || busy > 0 || files.length > 0,
  };
}

/**
 * The test files that names of files and folders mean, in their order, each once.
 * @param all of the tree
 * @throws TestOptionsError where a name means none
 */
export function namedFiles(all: readonly string[], names: readonly string[]): string[] {
  const named = names.flatMap((name) => {
    const folder = name.replace(/\/*$/, "/");
    const found = all.filter((file) => file === name || file.startsWith(folder));
    if (found.length === 0) throw new TestOptionsError(`no test file is named by ${name}`);
    return found;
  });
  return [...new Set(named)];
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
      options: {
        tier: { type: "string" },
        since: { type: "string" },
        fresh: { type: "boolean" },
        record: { type: "boolean" },
        keep: { type: "boolean" },
        busy: { type: "string" },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new TestOptionsError(error instanceof Error ? error.message : String(error));
  }
}
