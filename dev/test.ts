/**
 * `npm test [-- --tier TIER | --since REV | FILE…]`: set-up (done before, by setup.mjs), then the tests of all tiers beside one another, each with no
 * more than it needs: engines are built for all but the first, an appliance is installed for the last. `--help` says more.
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
import { SHARING } from "./tests/group-files.ts";
import { joinPackages } from "./tests/join-packages.ts";
import { leasingTests } from "./tests/leasing-tests.ts";
import {
  filesOfTier,
  HELP,
  namedFiles,
  readTestOptions,
  type TestOptions,
  TestOptionsError,
} from "./tests/options.ts";
import { ProcessSampler } from "./tests/process-sampler.ts";
import { endSharedDaemons } from "./tests/shared-daemons.ts";
import { readRecordedCosts, writeRecordedCosts } from "./tests/recorded-costs.ts";
import { describeRun, evaluateRun } from "./tests/report-run.ts";
import { commitOf, costsOfTiers, recordRun, thisMachine } from "./tests/run-record.ts";
import { runTests, type TierFiles, type TierOutcome } from "./tests/run-tests.ts";
import { readSourceTree } from "./tests/sight/read-source-tree.ts";
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
const tree = await readSourceTree(repository);
const digests = digestsOf(chosen, repository, tree);
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
  RT_TEST_JOINED: await joinPackages(repository, join(results, "joined")),
  ...(options.isKept ? { TAP_SAVE_FIXTURE: "1" } : {}),
};
/** What the uninstall and all files together left behind: a failure of the run as any test's is. */
const leftovers: string[] = [];
await using pool = await EnginePool.start({
  onStart: (pid, engine) =>
    sampler.costs.addShared(pid, `${engine}, lent to one file after another`),
});
const toRun = new Map(
  TIERS.map((tier) => {
    const all = filesOfTier(chosen, tier, options.tier);
    const files = all.filter((file) => !cached.has(file));
    if (all.length > files.length)
      phases.say(`${tier}: ${all.length - files.length} of ${all.length} files are cached`);
    return [tier, files] as const;
  }),
);
const dearer = TIERS.filter((tier) => tier !== "unit" && toRun.get(tier)!.length > 0);
const bundle =
  dearer.length === 0
    ? null
    : phases.run("build", "engines, job image and bundle, built or found", () =>
        TestBundle.build(phases),
      );
await runAll(bundle);
if (bundle !== null) leftovers.push(...(await endSharedDaemons(sampler)));
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
const end = evaluateRun(report);
for (const text of describeRun(report, end)) process.stdout.write(`\n${text}\n`);
phases.say(
  `phases in seconds: ${JSON.stringify(phases.seconds)}, in all ${phases.totalSeconds}; ${Math.round(report.cpuSeconds)} s of this machine's CPU`,
);
phases.say(`raw results: ${results}`);
if (options.isKept) phases.say(`folders of the tests: ${join(repository, ".tap", "fixtures")}`);
if (options.isRecorded)
  recordRun(join(repository, "docs", "developer", "test-runs.json"), {
    ...{ commit: commitOf(repository), at: new Date().toISOString(), busy: options.busy },
    ...{ passed: end.passed, failed: end.failed, skipped: end.skipped },
    ...{ wallSeconds: phases.totalSeconds, cpuSeconds: Math.round(report.cpuSeconds) },
    ...{ phases: phases.seconds, tiers: costsOfTiers(outcomes), ...thisMachine() },
    failures: end.failures.slice(0, 20).map(({ fullname }) => fullname.slice(0, 200)),
  });
process.exitCode = end.isGood ? 0 : 1;
process.stdout.write(`\n${end.closing}\n`);

/** Runs all tiers beside one another: what only decides needs no bundle, and is told first. */
async function runAll(bundle: Promise<TestBundle> | null): Promise<void> {
  const files = (tier: Tier): readonly string[] => toRun.get(tier)!;
  const wanted = TIERS.filter((tier) => files(tier).length > 0);
  if (wanted.length === 0) return;
  const title = `${wanted.map((tier) => files(tier).length).join(", ")} files of the tiers ${wanted.join(", ")}`;
  const groups = wanted.map((tier): TierFiles => {
    const group = { tier, files: files(tier), env, onEnd: keep };
    if (tier === "unit" || bundle === null) return group;
    const withEngines = bundle.then((built) => ({
      ...{ ...env, ...pool.environment },
      ...built.environment,
    }));
    return tier === "acceptance"
      ? { ...group, ...onAppliance(bundle, withEngines) }
      : { ...group, env: withEngines };
  });
  const ended = await phases.run(wanted.join("+"), title, () =>
    runTests(groups, {
      ...{ repository, results, sampler, recorded, say: (line) => phases.say(line) },
      ...{ leasing: leasingTests(chosen, tree), sharing: SHARING },
    }),
  );
  for (const [tier, outcome] of ended) outcomes.set(tier, outcome);
}

/** Its files run once the appliance is installed, and with the last of them it goes. */
function onAppliance(
  bundle: Promise<TestBundle>,
  withEngines: Promise<NodeJS.ProcessEnv>,
): Pick<TierFiles, "env" | "onEnd"> {
  const appliance = bundle.then(({ folder }) => {
    owner("the installed appliance");
    return phases.run("appliance", "one appliance, installed as a customer would", () =>
      TestAppliance.start(phases, folder),
    );
  });
  return {
    env: appliance.then(async ({ environment }) => ({ ...(await withEngines), ...environment })),
    onEnd: async (outcome) => {
      await keep(outcome);
      const installed = await appliance.catch(() => null);
      await installed?.remove().catch((error: unknown) => {
        leftovers.push(error instanceof Error ? error.message : String(error));
      });
    },
  };
}

async function keep({ byFile }: TierOutcome): Promise<void> {
  for (const [file, summary] of byFile)
    verdicts.note(file, summary, digests.get(file)!, Date.now());
  verdicts.save();
}

async function chooseFiles({ files, since }: TestOptions): Promise<readonly string[]> {
  const all = testFiles(repository);
  if (files.length > 0) {
    const names = files.map((file) => relative(repository, join(process.cwd(), file)));
    return orExit(() => namedFiles(all, names));
  }
  if (since === null) return all;
  const reached = await testsReachedSince(since, repository, all);
  phases.say(
    `${reached.length} of ${all.length} files can be reached by what changed since ${since}`,
  );
  return reached;
}

function optionsOrExit(): TestOptions {
  const read = orExit(() => readTestOptions(process.argv.slice(2)));
  if (!read.help) return read;
  process.stdout.write(HELP);
  process.exit(0);
}

function orExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TestOptionsError)) throw error;
    process.stderr.write(`${error.message}\n\n${HELP}`);
    process.exit(2);
  }
}
