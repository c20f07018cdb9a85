import { appendFileSync, existsSync, globSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { POOLED_KEYCLOAKS } from "@resontech/house/engine-pool";
import { endProcess } from "./end-process.ts";
import { isExecMonitor } from "./exec-monitors.ts";
import { type FileCost, readFileCosts } from "./file-costs.ts";
import { groupFiles } from "./group-files.ts";
import type { ProcessSampler } from "./process-sampler.ts";
import { commandOf } from "./read-processes.ts";
import { roomOf } from "./room-of.ts";
import { inOrder, isHeavy, nextToStart, type RecordedCost, type Waiting } from "./schedule.ts";
import { sharedDaemonOf } from "./shared-daemons.ts";
import { summarizeTap, sumUp, type TapSummary } from "./tap-summary.ts";
import { type ProcessEnd, runTestProcess } from "./test-process.ts";
import type { Tier } from "./tier.ts";

export type TierOutcome = TapSummary & {
  byFile: ReadonlyMap<string, TapSummary>;
  costs: readonly FileCost[];
  /** Files beside which a step of a cache was made, which later runs find: their costs tell little. */
  makers: ReadonlySet<string>;
  /** From the start of the first file to the end of the last. */
  wallSeconds: number;
  /** Raw TAP of every process, and what it said beside it. */
  rawFile: string;
};

/** The files of a tier that are to run, and what they need. */
export type TierFiles = {
  tier: Tier;
  files: readonly string[];
  /** Their environment, once what they need is there. Where that fails, each of the files does. */
  env: NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>;
  /** When the last of them has ended. */
  onEnd?: (outcome: TierOutcome) => Promise<void>;
};

export type RunOptions = {
  repository: string;
  /** The folder of raw results. */
  results: string;
  sampler: ProcessSampler;
  /** File → what it cost when it last ran. */
  recorded: ReadonlyMap<string, RecordedCost>;
  /** Files that ask the pool for a Keycloak. */
  leasing: ReadonlySet<string>;
  /** Rooms whose files of engines share processes. */
  sharing: ReadonlySet<string>;
  say: (line: string) => void;
};

/** Browsers and files that share the one appliance are in each other's way; unit files only decide, and keep a processor busy each. */
const OF_TIER: Readonly<Record<Tier, number>> = { unit: 2, engines: 4, browser: 2, acceptance: 2 };
const MAX_JOBS = 5;
/** Of all processors. A file keeps more of them busy at times than on average: with 0.85 and six at once the load of two processors rose to 18. */
const BUSY_PART = 0.8;
/** They restart parts of the one installed appliance. */
const ALONE = "acceptance/test/alone/";
/** Of a unit file that nobody has seen run: it only decides. */
const UNKNOWN_UNIT: RecordedCost = { cpuSeconds: 0.1, wallSeconds: 0.1 };
/** Of another one that shares a process. */
const UNKNOWN: RecordedCost = { cpuSeconds: 3, wallSeconds: 5 };
const TOLD_EVERY_MS = 30_000;
/** A process that was told to end, or an engine's monitor, takes a moment. */
const LEFT_GRACE_MS = 10_000;
const LEFT_LOOK_MS = 250;
const HOST = join(import.meta.dirname, "test-host.ts");

/** One process, and the files that run in it. */
type Job = Waiting & { files: readonly string[] };

/** Runs the files of several tiers beside one another, as their costs allow. */
export async function runTests(
  tiers: readonly TierFiles[],
  options: RunOptions,
): Promise<Map<Tier, TierOutcome>> {
  const parts = tiers.map((each) => new TierRun(each, options));
  const waiting: Job[] = [];
  const arrivals = new Set(
    parts.map((part) => {
      const arrival = part.jobs().then((jobs) => {
        waiting.splice(0, Infinity, ...inOrder([...waiting, ...jobs]));
        arrivals.delete(arrival);
      });
      return arrival;
    }),
  );
  const room = {
    ...{ jobs: MAX_JOBS, ofTier: OF_TIER, always: availableParallelism() },
    keycloaks: POOLED_KEYCLOAKS,
    // Those of a room in one process are a load of one.
    processors: tiers.every(({ tier }) => tier === "unit")
      ? Infinity
      : availableParallelism() * BUSY_PART,
  };
  const running = new Map<Job, Promise<void>>();
  const tell = setInterval(() => {
    const files = [...running.keys()].map(({ file }) => file).join(", ");
    options.say(`${parts.map((part) => part.progress).join("; ")}; now ${files}`);
  }, TOLD_EVERY_MS);

  while (waiting.length + running.size + arrivals.size > 0) {
    const next = nextToStart(waiting, [...running.keys()], room);
    if (next === null) {
      await Promise.race([...running.values(), ...arrivals]);
      continue;
    }
    waiting.splice(waiting.indexOf(next), 1);
    const part = parts.find(({ tier }) => tier === next.tier)!;
    running.set(
      next,
      part.run(next).finally(() => running.delete(next)),
    );
  }
  clearInterval(tell);
  return new Map(parts.map((part) => [part.tier, part.outcome()]));
}

/** What is known of the files of one tier while they run. */
class TierRun {
  readonly tier: Tier;
  readonly #files: readonly string[];
  readonly #env: TierFiles["env"];
  readonly #onEnd: TierFiles["onEnd"];
  readonly #options: RunOptions;
  readonly #rawFile: string;
  readonly #cpuFile: string;
  readonly #byFile = new Map<string, TapSummary>();
  readonly #makers = new Set<string>();
  #startedAt: number | null = null;
  #endedAt = 0;

  constructor({ tier, files, env, onEnd }: TierFiles, options: RunOptions) {
    this.tier = tier;
    this.#files = files;
    this.#env = env;
    this.#onEnd = onEnd;
    this.#options = options;
    this.#rawFile = join(options.results, `${tier}.tap`);
    this.#cpuFile = join(options.results, `${tier}.cpu`);
    for (const file of [this.#rawFile, this.#cpuFile]) rmSync(file, { force: true });
  }

  /** Once what they need is there. */
  async jobs(): Promise<Job[]> {
    try {
      await this.#env;
    } catch (error) {
      const fault = `what it needs is not there: ${error instanceof Error ? error.message : String(error)}`;
      this.#keep(judge({ tap: "", said: "", fault }, this.#files));
      return [];
    }
    return jobsOf(this.tier, this.#files, this.#options);
  }

  async run(job: Job): Promise<void> {
    const { repository, sampler } = this.#options;
    this.#startedAt ??= Date.now();
    const left = new Map<string, readonly string[]>();
    let [pid, now, since] = [0, job.file, Date.now()];
    const begin = (file: string): void => {
      [now, since] = [file, Date.now()];
      sampler.costs.addRoot(pid, file, true);
    };
    const finish = async (): Promise<void> => {
      if (lastStepAt(repository) >= since)
        for (const file of job.files.includes(now) ? [now] : job.files) this.#makers.add(file);
      // What a file starts of the installed appliance is the appliance's, whose end is looked at after all.
      if (this.tier !== "acceptance") left.set(now, await endLeft(now, sampler));
    };
    const end = await runTestProcess(argsOf(job), {
      cwd: repository,
      env: {
        ...(await this.#env),
        RT_TEST_CPU_FILE: this.#cpuFile,
        ...(isHosted(job) ? { RT_TEST_FILES: job.files.join(":") } : {}),
      },
      onStart: (started) => {
        pid = started;
        begin(job.file);
      },
      // A unit file starts nothing.
      ...(isHosted(job) && this.tier !== "unit"
        ? {
            files: job.files.length,
            onFile: async (file) => {
              await finish();
              begin(file);
            },
          }
        : {}),
    });
    await finish();
    appendFileSync(this.#rawFile, `# ${job.file}\n${end.tap}\n${end.said}\n`);
    this.#keep(judge(end, job.files, left));
    this.#endedAt = Date.now();
    if (this.#byFile.size === this.#files.length) await this.#onEnd?.(this.outcome());
  }

  get progress(): string {
    const { passed, failures } = sumUp(this.#byFile.values());
    return `${this.tier}: ${this.#byFile.size} of ${this.#files.length} files, ${passed} passed, ${failures.length} failed`;
  }

  outcome(): TierOutcome {
    const { repository, sampler } = this.#options;
    sampler.look();
    const parts = sampler.costs.seconds;
    const noted = existsSync(this.#cpuFile) ? readFileSync(this.#cpuFile, "utf8") : "";
    return {
      ...sumUp(this.#byFile.values()),
      ...{ byFile: this.#byFile, makers: this.#makers, rawFile: this.#rawFile },
      costs: readFileCosts(noted, repository).map((cost) => ({
        ...cost,
        partsSeconds: parts.get(cost.file) ?? 0,
      })),
      wallSeconds: this.#startedAt === null ? 0 : (this.#endedAt - this.#startedAt) / 1000,
    };
  }

  #keep(summaries: ReadonlyMap<string, TapSummary>): void {
    for (const [file, summary] of summaries) {
      this.#byFile.set(file, summary);
      for (const { fullname } of summary.failures.slice(0, 3))
        this.#options.say(`not ok ${fullname}`);
    }
  }
}

function jobsOf(
  tier: Tier,
  files: readonly string[],
  { recorded, leasing, sharing }: Pick<RunOptions, "recorded" | "leasing" | "sharing">,
): Job[] {
  const costOf = (file: string): RecordedCost | null => recorded.get(file) ?? null;
  return groupFiles({ tier, files, recorded, leasing, sharing }).map((group) => {
    const [first = ""] = group;
    const job = {
      ...{ file: first, tier, files: group, cost: costOf(first) },
      ...{ isAlone: first.startsWith(ALONE), leases: leasing.has(first) },
      isHeavy: group.some((file) => isHeavy(costOf(file))),
    };
    if (tier !== "unit" && group.length === 1) return job;
    const cost = sumOf(
      group.map((file) => costOf(file) ?? (tier === "unit" ? UNKNOWN_UNIT : UNKNOWN)),
    );
    // Unit files keep a processor busy from the first to the last.
    return tier === "unit"
      ? { ...job, file: roomOf(first), cost, isHeavy: isHeavy(cost) }
      : { ...job, file: `${first} and ${group.length - 1} others`, cost };
  });
}

function sumOf(costs: readonly RecordedCost[]): RecordedCost {
  return costs.reduce((sum, { cpuSeconds, wallSeconds }) => ({
    cpuSeconds: sum.cpuSeconds + cpuSeconds,
    wallSeconds: sum.wallSeconds + wallSeconds,
  }));
}

/** Whether it runs within `test-host.ts`. */
function isHosted({ tier, files }: Job): boolean {
  return tier === "unit" || files.length > 1;
}

function argsOf(job: Job): string[] {
  const preload = (name: string): string =>
    `--import=${pathToFileURL(join(import.meta.dirname, name)).href}`;
  const joined = preload("joined-packages.mjs");
  if (job.tier === "unit") return [preload("no-processes.mjs"), joined, HOST];
  return isHosted(job) ? [joined, HOST] : [preload("note-cpu.mjs"), joined, job.file];
}

/** When one of the caches got a step that it had not, as milliseconds since the epoch. */
function lastStepAt(repository: string): number {
  return globSync(".cache/*/steps", { cwd: repository }).reduce(
    (last, folder) => Math.max(last, statSync(join(repository, folder)).mtimeMs),
    0,
  );
}

/** Ends what a file left running, for it takes the processor and the ports of those that come. @returns the command of each that is a fault */
async function endLeft(file: string, sampler: ProcessSampler): Promise<string[]> {
  for (let waitedMs = 0; ; waitedMs += LEFT_LOOK_MS) {
    sampler.look();
    const pids = sampler.costs.runningOf(file).filter((pid) => {
      const daemon = sharedDaemonOf(commandOf(pid));
      if (daemon !== null) sampler.costs.addShared(pid, daemon);
      return daemon === null;
    });
    if (pids.length === 0) return [];
    if (waitedMs < LEFT_GRACE_MS) {
      await sleep(LEFT_LOOK_MS);
      continue;
    }
    return pids.map(endProcess).filter((command) => !isExecMonitor(command));
  }
}

/** What no assertion says counts as a failure, too: a process that ended badly, a file that never ran or asserts nothing. */
export function judge(
  { tap, said, fault }: ProcessEnd,
  files: readonly string[],
  left: ReadonlyMap<string, readonly string[]> = new Map(),
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
  for (const [owner, commands] of left)
    if (commands.length > 0)
      failed(summaries.has(owner) ? owner : files[0]!, `left running: ${commands.join(", ")}`);
  return summaries;
}
