/**
 * `npm test [-- --tier TIER | --since REV | FILE…]`: set-up (done before, by setup.mjs), then the tests tier by tier, each with no more than it
 * needs: engines are built for the second, an appliance is installed for the last. `--help` says more.
 */
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { machineCpuSeconds } from "./machine-cpu.ts";
import { Phases } from "./phases.ts";
import { TestAppliance } from "./test-appliance.ts";
import { testsReachedSince } from "./tests/changed-since.ts";
import {
  filesOfTier,
  HELP,
  readTestOptions,
  type TestOptions,
  TestOptionsError,
} from "./tests/options.ts";
import { listDearest } from "./tests/file-costs.ts";
import { runTier, type TierOutcome } from "./tests/run-tier.ts";
import { describeFailure, listFailures } from "./tests/tap-failure.ts";
import { filesToTryAgain, judgeSecondTry, type Judged } from "./tests/second-try.ts";
import { testFiles } from "./tests/test-files.ts";
import { type Tier, TIERS } from "./tests/tier.ts";
import { TestBundle } from "./tests/test-bundle.ts";

const repository = join(import.meta.dirname, "..");
const options = optionsOrExit();
const phases = new Phases("test", Number(process.env["RT_SETUP_MS"] ?? 0));
const cpuBefore = machineCpuSeconds();
const results = join(repository, ".cache", "test");
mkdirSync(results, { recursive: true });

const chosen = await chooseFiles(options);
const outcomes = new Map<Tier, TierOutcome & Judged>();
/** Tests start hundreds of processes from the same files: a start takes half the CPU once they are compiled. */
const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_COMPILE_CACHE: join(repository, ".cache", "compile"),
};
/** What the uninstall left behind: a failure of the run as any test's is. */
const leftovers: string[] = [];
let bundle: TestBundle | null = null;
for (const tier of TIERS) {
  const files = filesOfTier(chosen, tier, options.tier);
  if (files.length === 0) continue;
  if (tier !== "unit")
    bundle ??= await phases.run("build", "engines, job image and bundle, built or found", () =>
      TestBundle.build(phases),
    );
  const environment = { ...env, ...bundle?.environment };
  const appliance = tier === "acceptance" && bundle !== null ? await installed(bundle) : null;
  outcomes.set(tier, await judged(tier, files, { ...environment, ...appliance?.environment }));
  await appliance?.remove().catch((error: unknown) => {
    leftovers.push(error instanceof Error ? error.message : String(error));
  });
}
report();

/** As the tier's run says, and a second try of the files that failed in it. */
async function judged(
  tier: Tier,
  files: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<TierOutcome & Judged> {
  const tried = { repository, results, env: environment };
  const first = await phases.run(tier, `${files.length} files of the tier ${tier}`, () =>
    runTier(tier, files, tried),
  );
  const again = options.files.length > 0 ? [] : filesToTryAgain(tier, first.failures, files);
  if (again.length === 0) return { ...first, unsteady: [] };
  const second = await phases.run(`${tier} again`, `alone: ${again.join(", ")}`, () =>
    runTier(tier, again, { ...tried, isAgain: true }),
  );
  return { ...first, ...judgeSecondTry(first, second, again) };
}

async function installed(from: TestBundle): Promise<TestAppliance> {
  return await phases.run("appliance", "one appliance, installed as a customer would", () =>
    TestAppliance.start(phases, from.folder),
  );
}

async function chooseFiles({ files, since }: TestOptions): Promise<readonly string[]> {
  if (files.length > 0) return files.map((file) => relative(repository, join(process.cwd(), file)));
  const all = testFiles(repository);
  if (since === null) return all;
  const reached = await testsReachedSince(since, repository, all);
  phases.say(
    `${reached.length} of ${all.length} files can be reached by what changed since ${since}`,
  );
  return reached;
}

function optionsOrExit(): TestOptions {
  try {
    const read = readTestOptions(process.argv.slice(2));
    if (read.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    return read;
  } catch (error) {
    if (!(error instanceof TestOptionsError)) throw error;
    process.stderr.write(`${error.message}\n\n${HELP}`);
    process.exit(2);
  }
}

function report(): void {
  let [passed, failed, skipped] = [0, leftovers.length, 0];
  for (const left of leftovers) process.stdout.write(`\n${left}\n`);
  for (const [tier, outcome] of outcomes) {
    passed += outcome.passed;
    skipped += outcome.skipped;
    for (const failure of outcome.failures) process.stdout.write(`\n${describeFailure(failure)}\n`);
    for (const failure of outcome.unsteady)
      process.stdout.write(`\n${describeFailure(failure, "unsteady")}\n`);
    const isBroken =
      outcome.status !== 0 && outcome.failures.length + outcome.unsteady.length === 0;
    if (isBroken)
      process.stdout.write(
        `\nthe tier ${tier} ended with ${outcome.status} and named no failure: ${outcome.rawFile}\n`,
      );
    failed += isBroken ? 1 : outcome.failures.length;
  }
  if (options.files.length === 0) {
    const dearest = listDearest([...outcomes.values()].flatMap(({ costs }) => costs));
    process.stdout.write(`\n${dearest}\n`);
  }
  const cpu = Math.round(machineCpuSeconds() - cpuBefore);
  phases.say(
    `phases in seconds: ${JSON.stringify(phases.seconds)}, in all ${phases.totalSeconds}; ${cpu} s of this machine's CPU`,
  );
  phases.say(`raw results: ${results}`);
  const failures = [...outcomes.values()].flatMap((outcome) => outcome.failures);
  const unsteady = [...outcomes.values()].flatMap((outcome) => outcome.unsteady);
  if (unsteady.length > 0) process.stdout.write(`\n${listFailures(unsteady, "unsteady")}\n`);
  if (failures.length > 0) process.stdout.write(`\n${listFailures(failures)}\n`);
  const isNothingReached = options.since !== null && chosen.length === 0;
  process.exitCode = failed > 0 || (passed === 0 && !isNothingReached) ? 1 : 0;
  const apart = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(unsteady.length > 0 ? [`${unsteady.length} unsteady`] : []),
  ];
  process.stdout.write(`\n${[`${passed} passed`, `${failed} failed`, ...apart].join(", ")}\n`);
}
