/**
 * `npm test [-- --tier TIER | --since REV | FILE…]`: set-up (done before, by setup.mjs), then the tests tier by tier, each with no more than it
 * needs: engines are built for the second, an appliance is installed for the last. `--help` says more.
 */
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { EnginePool } from "@resontech/house/engine-pool";
import { machineCpuSeconds } from "./machine-cpu.ts";
import { Phases } from "./phases.ts";
import { TestAppliance } from "./test-appliance.ts";
import { BusyProcesses } from "./tests/busy-processes.ts";
import { testsReachedSince } from "./tests/changed-since.ts";
import { digestsOf } from "./tests/digests.ts";
import {
  filesOfTier,
  HELP,
  readTestOptions,
  type TestOptions,
  TestOptionsError,
} from "./tests/options.ts";
import { ProcessSampler } from "./tests/process-sampler.ts";
import { readRecordedCosts, writeRecordedCosts } from "./tests/recorded-costs.ts";
import { describeRun, judgeRun } from "./tests/report-run.ts";
import { commitOf, recordRun, thisMachine } from "./tests/run-record.ts";
import { runTier, type TierOutcome } from "./tests/run-tier.ts";
import { testFiles } from "./tests/test-files.ts";
import { type Tier, TIERS } from "./tests/tier.ts";
import { TestBundle } from "./tests/test-bundle.ts";
import { type Verdict, Verdicts } from "./tests/verdicts.ts";

const repository = join(import.meta.dirname, "..");
/** Whose CPU is no cost of the tests. */
const BUSY = "busy";
const options = optionsOrExit();
const phases = new Phases("test", Number(process.env["RT_SETUP_MS"] ?? 0));
const results = join(repository, ".cache", "test");
mkdirSync(results, { recursive: true });
const costsFile = join(results, "costs.json");
const verdicts = Verdicts.load(join(results, "verdicts.json"));
const recorded = readRecordedCosts(costsFile);

using sampler = new ProcessSampler();
const cpuBefore = machineCpuSeconds();
/** From now on, what this process starts counts as this. */
const owner = (name: string): void => {
  sampler.look();
  sampler.costs.addRoot(process.pid, name, false);
};
owner(BUSY);
using _busy = new BusyProcesses(options.busy);
owner("making the engines and the bundle");

const chosen = await chooseFiles(options);
const digests = await digestsOf(chosen, repository);
const cached = new Map<string, Verdict>();
if (!options.isFresh)
  for (const file of TIERS.flatMap((tier) => filesOfTier(chosen, tier, options.tier))) {
    const verdict = verdicts.find(file, digests.get(file) ?? null, Date.now());
    if (verdict !== null) cached.set(file, verdict);
  }

const outcomes = new Map<Tier, TierOutcome>();
/** Tests start hundreds of processes from the same files: a start takes half the CPU once they are compiled. */
const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_COMPILE_CACHE: join(repository, ".cache", "compile"),
};
/** What the uninstall left behind: a failure of the run as any test's is. */
const leftovers: string[] = [];
let bundle: TestBundle | null = null;
await using pool = await EnginePool.start({
  onStart: (pid, engine) =>
    sampler.costs.addShared(pid, `${engine}, lent to one file after another`),
});
for (const tier of TIERS) {
  const all = filesOfTier(chosen, tier, options.tier);
  const files = all.filter((file) => !cached.has(file));
  if (all.length > files.length)
    phases.say(`${tier}: ${all.length - files.length} of ${all.length} files are cached`);
  if (files.length === 0) continue;
  if (tier !== "unit")
    bundle ??= await phases.run("build", "engines, job image and bundle, built or found", () =>
      TestBundle.build(phases),
    );
  if (tier === "acceptance") owner("the installed appliance");
  const appliance = tier === "acceptance" && bundle !== null ? await installed(bundle) : null;
  const outcome = await phases.run(tier, `${files.length} files of the tier ${tier}`, () =>
    runTier(tier, files, {
      ...{ repository, results, sampler, recorded },
      env: { ...env, ...pool.environment, ...bundle?.environment, ...appliance?.environment },
      say: (line) => phases.say(line),
    }),
  );
  outcomes.set(tier, outcome);
  keep(outcome);
  await appliance?.remove().catch((error: unknown) => {
    leftovers.push(error instanceof Error ? error.message : String(error));
  });
}
sampler.look();
writeRecordedCosts(
  costsFile,
  recorded,
  [...outcomes.values()].flatMap(({ costs }) => costs),
);
const shared = new Map(sampler.costs.seconds);
const busySeconds = shared.get(BUSY) ?? 0;
shared.delete(BUSY);
const report = {
  ...{ outcomes, cached, leftovers, shared, isBusy: options.busy > 0 },
  isWhole: options.files.length === 0,
  mayBeNothing: options.since !== null && chosen.length === 0,
  cpuSeconds: machineCpuSeconds() - cpuBefore - busySeconds,
};
const end = judgeRun(report);
for (const text of describeRun(report, end)) process.stdout.write(`\n${text}\n`);
phases.say(
  `phases in seconds: ${JSON.stringify(phases.seconds)}, in all ${phases.totalSeconds}; ${Math.round(report.cpuSeconds)} s of this machine's CPU`,
);
phases.say(`raw results: ${results}`);
if (options.isRecorded)
  recordRun(join(repository, "docs", "developer", "test-runs.json"), {
    ...{ commit: commitOf(repository), at: new Date().toISOString(), busy: options.busy },
    ...{ passed: end.passed, failed: end.failed, skipped: end.skipped },
    ...{ wallSeconds: phases.totalSeconds, cpuSeconds: Math.round(report.cpuSeconds) },
    ...{ phases: phases.seconds, ...thisMachine() },
    failures: end.failures.slice(0, 20).map(({ fullname }) => fullname.slice(0, 200)),
  });
process.exitCode = end.isGood ? 0 : 1;
process.stdout.write(`\n${end.closing}\n`);

function keep({ byFile }: TierOutcome): void {
  for (const [file, summary] of byFile)
    verdicts.note(file, summary, digests.get(file)!, Date.now());
  verdicts.save();
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
