import { appendFileSync, existsSync, globSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type FileCost, readFileCosts } from "./file-costs.ts";
import type { ProcessSampler } from "./process-sampler.ts";
import { commandOf } from "./read-processes.ts";
import { inOrder, nextToStart, type RecordedCost, type Waiting } from "./schedule.ts";
import { summarizeTap, sumUp, type TapSummary } from "./tap-summary.ts";
import { type ProcessEnd, runTestProcess } from "./test-process.ts";
import type { Tier } from "./tier.ts";

export type TierOutcome = TapSummary & {
  byFile: ReadonlyMap<string, TapSummary>;
  costs: readonly FileCost[];
  /** Files beside which a step of a cache was made, which later runs find: their costs tell little. */
  makers: ReadonlySet<string>;
  /** Raw TAP of every process, and what it said beside it. */
  rawFile: string;
};

export type TierOptions = {
  repository: string;
  /** The folder of raw results. */
  results: string;
  env: NodeJS.ProcessEnv;
  sampler: ProcessSampler;
  /** File → what it cost when it last ran. */
  recorded: ReadonlyMap<string, RecordedCost>;
  say: (line: string) => void;
};

/** What waits for a part of ours waits too long beside more than these; unit files only decide, and keep a processor busy each. */
const JOBS: Readonly<Record<Tier, number>> = { unit: 2, engines: 4, browser: 2, acceptance: 2 };
/** Of all processors. A file keeps more of them busy at times than on average: with 0.85, five at once ended 5 % sooner than three, and two tests failed in that run. */
const BUSY_PART = 0.65;
/** They restart parts of the one installed appliance. */
const ALONE = "acceptance/test/alone/";
const TOLD_EVERY_MS = 30_000;
/** A process that was told to end, or an engine's monitor, takes a moment. */
const LEFT_GRACE_MS = 10_000;
const LEFT_LOOK_MS = 250;
const HOST = join(import.meta.dirname, "unit-host.ts");

/** One process, and the files that run in it. */
type Job = Waiting & { files: readonly string[] };

export async function runTier(
  tier: Tier,
  files: readonly string[],
  { repository, results, env, sampler, recorded, say }: TierOptions,
): Promise<TierOutcome> {
  const rawFile = join(results, `${tier}.tap`);
  const cpuFile = join(results, `${tier}.cpu`);
  for (const file of [rawFile, cpuFile]) rmSync(file, { force: true });
  const waiting = inOrder(jobsOf(tier, files, recorded));
  const room = {
    jobs: JOBS[tier],
    // Those of a room in one process are a load of one.
    processors: tier === "unit" ? Infinity : availableParallelism() * BUSY_PART,
  };
  const running = new Map<Job, Promise<Job>>();
  const byFile = new Map<string, TapSummary>();
  const makers = new Set<string>();
  const tell = setInterval(() => {
    const { passed, failures } = sumUp(byFile.values());
    const now = [...running.keys()].map(({ file }) => file).join(", ");
    say(
      `${tier}: ${byFile.size} of ${files.length} files, ${passed} passed, ${failures.length} failed; now ${now}`,
    );
  }, TOLD_EVERY_MS);

  async function run(job: Job): Promise<Job> {
    const startedAt = Date.now();
    const end = await runTestProcess(argsOf(tier, job), {
      cwd: repository,
      env: {
        ...env,
        RT_TEST_CPU_FILE: cpuFile,
        ...(tier === "unit" ? { RT_TEST_FILES: job.files.join(":") } : {}),
      },
      onStart: (pid) => sampler.costs.addRoot(pid, job.file, true),
    });
    if (lastStepAt(repository) >= startedAt) for (const file of job.files) makers.add(file);
    // What a file starts of the installed appliance is the appliance's, whose end is looked at after all.
    const left = tier === "acceptance" ? [] : await endLeft(job.file, sampler);
    appendFileSync(rawFile, `# ${job.file}\n${end.tap}\n${end.said}\n`);
    for (const [file, summary] of judge(end, job.files, left)) {
      byFile.set(file, summary);
      for (const { fullname } of summary.failures.slice(0, 3)) say(`not ok ${fullname}`);
    }
    return job;
  }

  while (waiting.length + running.size > 0) {
    const next = nextToStart(waiting, [...running.keys()], room);
    if (next === null) running.delete(await Promise.race(running.values()));
    else {
      waiting.splice(waiting.indexOf(next), 1);
      running.set(next, run(next));
    }
  }
  clearInterval(tell);
  sampler.look();
  const parts = sampler.costs.seconds;
  const costs = readFileCosts(existsSync(cpuFile) ? readFileSync(cpuFile, "utf8") : "", repository);
  return {
    ...sumUp(byFile.values()),
    ...{ byFile, makers },
    costs: costs.map((cost) => ({ ...cost, partsSeconds: parts.get(cost.file) ?? 0 })),
    rawFile,
  };
}

/** Unit files of a room share a process; others have one each. */
function jobsOf(
  tier: Tier,
  files: readonly string[],
  recorded: ReadonlyMap<string, RecordedCost>,
): Job[] {
  if (tier !== "unit")
    return files.map((file) => ({
      ...{ file, files: [file], cost: recorded.get(file) ?? null },
      isAlone: file.startsWith(ALONE),
    }));
  return [...Map.groupBy(files, (file) => file.split("/")[0]!)].map(([room, files]) => {
    const wallSeconds = files.reduce(
      (sum, file) => sum + (recorded.get(file)?.wallSeconds ?? 1),
      0,
    );
    return { file: room, files, cost: { cpuSeconds: 0, wallSeconds }, isAlone: false };
  });
}

function argsOf(tier: Tier, { file }: Job): string[] {
  const preload = (name: string): string =>
    `--import=${pathToFileURL(join(import.meta.dirname, name)).href}`;
  return tier === "unit" ? [preload("no-processes.mjs"), HOST] : [preload("note-cpu.mjs"), file];
}

/** When one of the caches got a step that it had not, as milliseconds since the epoch. */
function lastStepAt(repository: string): number {
  return globSync(".cache/*/steps", { cwd: repository }).reduce(
    (last, folder) => Math.max(last, statSync(join(repository, folder)).mtimeMs),
    0,
  );
}

/** Ends what a file left running, for it takes the processor and the ports of those that come. @returns the command of each */
async function endLeft(file: string, sampler: ProcessSampler): Promise<string[]> {
  for (let waitedMs = 0; ; waitedMs += LEFT_LOOK_MS) {
    sampler.look();
    const pids = sampler.costs.runningOf(file);
    if (pids.length === 0) return [];
    if (waitedMs < LEFT_GRACE_MS) {
      await sleep(LEFT_LOOK_MS);
      continue;
    }
    return pids.map((pid) => {
      const command = commandOf(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
      return command;
    });
  }
}

/** What no assertion says counts as a failure, too: a process that ended badly, a file that never ran or asserts nothing. */
export function judge(
  { tap, said, fault }: ProcessEnd,
  files: readonly string[],
  left: readonly string[] = [],
): Map<string, TapSummary> {
  const summaries = summarizeTap(tap, files);
  const failed = (file: string, why: string): void => {
    const { passed, skipped, failures } = summaries.get(file)!;
    const failure = { fullname: `${file} > ${why}`, diagnostics: said === "" ? null : said };
    summaries.set(file, { passed, skipped, failures: [...failures, failure] });
  };
  for (const file of files) {
    const { passed, skipped, failures } = summaries.get(file)!;
    if (passed + skipped + failures.length === 0) failed(file, fault ?? "it asserts nothing");
  }
  const isExplained = [...summaries.values()].some(({ failures }) => failures.length > 0);
  if (fault !== null && !isExplained) failed(files[0]!, fault);
  if (left.length > 0) failed(files[0]!, `left running: ${left.join(", ")}`);
  return summaries;
}
