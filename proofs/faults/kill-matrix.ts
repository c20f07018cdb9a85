/**
 * kill -9 of every part and of the federation's own containers during real jobs, at seeded points spread over a job's life and once while its
 * outputs are stored, one at a time and two at once. Every kill must have met a living process; every job must end FINISHED, never with two
 * living members in one place, by its own record and by the host's processes, and never on a model that was lost; afterwards nothing is left on
 * the node or in the bucket, and the log verifies offline.
 *
 * `npm run prove -- kill-matrix [SEED [TIMES [TARGET,TARGET…]]]` (ten times each, all targets and pairs of them unless said)
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import { untilHealthy } from "@resontech/house/until-healthy";
import { findPaths } from "@resontech/house/find-paths";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import type { ProofContext, ProofResult } from "../proof.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import { spread } from "../statistics.ts";
import type { Harm, Harmed } from "./harms/harm.ts";
import { HarmedJobs } from "./harms/harmed-jobs.ts";
import { isRunningProcess } from "./watch/is-running-process.ts";

const PARTS = ["door", "coordinator", "agent", "auditd", "s3-front", "nats", "s3", "registry"];
/** The federation's own containers, by what their names hold. */
const CONTAINERS: Readonly<Record<string, string>> = {
  "fl-server": "-server-",
  "fl-client": "-site-2-",
};
const PAIR = "two-at-once";
const TARGETS = [...PARTS, ...Object.keys(CONTAINERS), PAIR];
const JOB = { rounds: 4, ticks: 5 };
const JOB_LIMIT_MS = 300_000;
/** Of an undisturbed job's life, within which a part is killed; its containers end before it does. */
const LIFE_SHARE = 1;
const CONTAINER_LIFE_SHARE = 0.85;
const CONTAINER_LIMIT_MS = 60_000;
/** A temporary file of a write that goes on is younger. */
const SETTLED_MS = 5_000;

type Killed = {
  target: string;
  what: string[];
  afterS: number;
  inState: string;
  /** Each was a living process when it was sent the signal. */
  isKilled: boolean;
};
type Kill = Harmed<Killed>;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? Date.now() % 1_000_000);
  const times = Number(args[1] ?? 10);
  const targets = args[2]?.split(",") ?? TARGETS;
  const unknown = targets.filter((target) => !TARGETS.includes(target));
  if (unknown.length > 0)
    throw new TypeError(`no target ${unknown.join(", ")}; there are ${TARGETS.join(", ")}`);
  const random = seededRandom(seed);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  await using harmed = await HarmedJobs.open(installed, progress, {
    ...{ limitMs: JOB_LIMIT_MS, isWatched: true },
  });
  const { jobs, api } = harmed;
  progress(
    "two jobs that nobody disturbs: the second is as long as the others would be, the first pulls the image as well",
  );
  let calmMs = Number.NaN;
  for (const name of ["calm-0", "calm-1"]) {
    const id = await jobs.submit(name, JOB);
    const from = Date.now();
    const { status } = await api.untilEnded(id, JOB_LIMIT_MS);
    calmMs = Date.now() - from;
    progress(`  ${status} after ${seconds(from)} s`);
  }
  const kills: Kill[] = [];
  for (let round = 0; round < times; round += 1) {
    // A part that was killed often is started again later each time: each has others between its own.
    for (const target of shuffled(targets, random)) {
      const what = target === PAIR ? pair(round, random) : [target];
      const isPart = what.every((one) => PARTS.includes(one));
      const shareOfLife = random() * (isPart ? LIFE_SHARE : CONTAINER_LIFE_SHARE);
      const isLast = PARTS.includes(target) && round === times - 1;
      const afterMs = isLast ? null : shareOfLife * calmMs;
      const name = `kill-${target}-${round}`;
      const turn = `${kills.length + 1}/${times * targets.length}`;
      kills.push(
        await harmed.through(killOf(appliance, jobs, { name, turn, target, what, afterMs })),
      );
    }
  }
  await untilHealthy(appliance);
  await sleep(SETTLED_MS);
  const left = await harmed.leftBehind(() => temporaryFiles(appliance));
  const audit = await harmed.verify();
  const ok = kills.every(({ isGood }) => isGood) && left.length === 0 && isVerified(audit);
  const byTarget = Object.fromEntries(
    targets.map((target) => [target, summary(kills.filter(({ seen }) => seen.target === target))]),
  );
  const pairs = kills
    .filter(({ seen }) => seen.target === PAIR)
    .map(({ seen: { what, inState }, end }) => `${what.join(" and ")} (${inState}): ${end.state}`);
  return {
    ok,
    figures: {
      seed,
      calm_job_s: Math.round(calmMs / 100) / 10,
      kills: kills.length,
      by_target: byTarget,
      pairs,
      bad: kills.filter(({ isGood }) => !isGood).map(toldOf),
      left,
      audit,
    },
  };
}

/**
 * kill -9 of each of these at once.
 * @param turn of all kills, for whoever waits
 * @param afterMs from the submission; null: while the job's outputs are stored
 */
function killOf(
  appliance: LocalAppliance,
  jobs: RecordedJobs,
  {
    name,
    turn,
    target,
    what,
    afterMs,
  }: { name: string; turn: string; target: string; what: string[]; afterMs: number | null },
): Harm<Killed> {
  let parts = new Map<string, number>();
  return {
    name,
    job: JOB,
    ready: async () => {
      await untilHealthy(appliance);
      parts = new Map(appliance.status().parts.map((part) => [part.name, part.pid ?? 0]));
    },
    happen: async (job) => {
      const from = Date.now();
      if (afterMs === null) await untilFinalizing(jobs, job);
      else await sleep(afterMs);
      const processes = await Promise.all(
        what.map(async (one) => parts.get(one) ?? (await containerOf(one, job, jobs))),
      );
      const inState = stateOf(jobs, job);
      const isKilled = processes.map(kill).every(Boolean);
      return { target, what, afterS: seconds(from), inState, isKilled };
    },
    holds: (_, { isKilled }) => isKilled,
    tell: (end, { afterS, inState, isKilled }) =>
      `${turn} ${what.join(" and ")} after ${afterS} s (${inState}${isKilled ? "" : ", NOT killed"}): ` +
      `${end.state} after ${end.seconds} s, attempt ${end.attempts}${end.resumedAt > 0 ? ` from round ${end.resumedAt}` : ""}`,
  };
}

/** As a kill that was not good stands in the figures. */
function toldOf({ seen, end }: Kill): Record<string, unknown> {
  const { state, attempts, resumedAt, seconds: took, doubles, overlaps, wrongModels } = end;
  return {
    ...seen,
    ...{ state, attempts, resumedAt, seconds: took, doubles, overlaps, wrongModels },
  };
}

function summary(kills: readonly Kill[]): Record<string, unknown> {
  return {
    finished: kills.filter(({ isGood }) => isGood).length,
    of: kills.length,
    resumed: kills.filter(({ end }) => end.resumedAt > 0).length,
    seconds: spread(
      kills.map(({ end }) => end.seconds),
      1,
    ),
    in_states: Object.fromEntries(
      [...Map.groupBy(kills, ({ seen }) => seen.inState)].map(([state, of]) => [state, of.length]),
    ),
  };
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** Chosen freely, but the first pairs have one of the federation's containers each. */
function pair(round: number, random: () => number): string[] {
  const order = shuffled([...PARTS, ...Object.keys(CONTAINERS)], random);
  const container = Object.keys(CONTAINERS)[round];
  return container === undefined
    ? order.slice(0, 2)
    : [container, order.find((one) => one !== container)!];
}

/** The first process of a container of the job's federation, once there is one; 0 when none came. */
async function containerOf(target: string, id: string, jobs: RecordedJobs): Promise<number> {
  const mark = CONTAINERS[target] ?? target;
  for (const from = Date.now(); Date.now() - from < CONTAINER_LIMIT_MS; await sleep(100)) {
    const found = jobs
      .containers()
      .find(({ name }) => name.includes(`-${id}-`) && name.includes(mark));
    if (found !== undefined) return found.pid;
  }
  return 0;
}

/** @returns whether there was a living process to kill */
function kill(pid: number): boolean {
  try {
    return pid > 0 && isRunningProcess(pid) && process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** Waits for the short time in which a job's outputs are stored, or for its end. */
async function untilFinalizing(jobs: RecordedJobs, id: string): Promise<void> {
  for (const from = Date.now(); Date.now() - from < JOB_LIMIT_MS; await sleep(20))
    if (["FINALIZING", "SUCCEEDED", "FAILED"].includes(stateOf(jobs, id))) return;
}

/** Straight from the database: the coordinator may be the one that is about to be killed. */
function stateOf(jobs: RecordedJobs, id: string): string {
  const db = jobs.open();
  try {
    return (
      db.prepare<[string], string>("SELECT state FROM jobs WHERE id = ?").pluck().get(id) ??
      "unknown"
    );
  } finally {
    db.close();
  }
}

/** What a write that was cut short leaves beside its target, in any part's data; one that was begun just now may be under way. */
function temporaryFiles({ root }: LocalAppliance): string[] {
  const folders = ["agent", "audit", "coordinator", "s3"].map((name) => join(root, "data", name));
  const names = ["*.part", "*.tmp", "*.new", ".sgwtmp*", ".*.sgwtmp.*"].flatMap((name, at) => [
    ...(at === 0 ? [] : ["-o"]),
    "-path",
    `*/${name}`,
    "-o",
    "-path",
    `*/${name}/*`,
  ]);
  return findPaths([
    ...folders,
    "-type",
    "f",
    "-not",
    "-newermt",
    `${SETTLED_MS / 1000} seconds ago`,
    "(",
    ...names,
    ")",
  ]).map((path) => `temporary file ${path}`);
}

function seconds(fromMs: number): number {
  return Math.round((Date.now() - fromMs) / 100) / 10;
}
