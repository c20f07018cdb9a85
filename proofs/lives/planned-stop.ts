/**
 * Planned stops during real federated jobs: five minutes without a coordinator, then a restart of every part. Nothing of a job may be killed:
 * the same processes before and after, the first attempt FINISHED, the job's own record whole.
 *
 * `npm run prove -- planned-stop [SECONDS]` (300 unless said)
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import type { Harm, Harmed } from "../faults/harms/harm.ts";
import { HarmedJobs } from "../faults/harms/harmed-jobs.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const ROUNDS = 4;
const LOOK_MS = 10_000;
const JOB_LIMIT_MS = 900_000;
/** The server and two sites. */
const MEMBERS = 3;
const SITES = 2;

/** @property isSame whether the job's processes were the same ones all the while */
type Stopped = { members: number; isSame: boolean; figures: Record<string, unknown> };
/** Stops parts, and starts them again. */
type Stop = (sameProcesses: () => boolean) => Promise<Omit<Stopped, "members">>;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const awayS = Number(args[0] ?? 300);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  await using harmed = await HarmedJobs.open(installed, progress, { limitMs: JOB_LIMIT_MS });
  const during = async (name: string, ticks: number, stop: Stop) =>
    await harmed.through(stopOf(harmed.jobs, { name, ticks, stop }));

  progress(`a job without a coordinator for ${awayS} s`);
  const coordinator = await during(
    "planned-coordinator",
    // Rounds long enough that the job still runs when the coordinator is back.
    Math.ceil(awayS / 1.5),
    coordinatorAway(appliance, awayS, progress),
  );
  progress("a restart of every part during a job");
  const everything = await during("planned-restart", 60, restartOf(appliance));
  const left = await harmed.leftBehind();
  const audit = await harmed.verify();
  const ok = coordinator.isGood && everything.isGood && left.length === 0 && isVerified(audit);
  return {
    ok,
    figures: { coordinator: toldOf(coordinator), everything: toldOf(everything), left, audit },
  };
}

function stopOf(
  jobs: RecordedJobs,
  { name, ticks, stop }: { name: string; ticks: number; stop: Stop },
): Harm<Stopped> {
  return {
    name,
    job: { rounds: ROUNDS, ticks },
    happen: async (job) => {
      await jobs.untilRound(job, 1);
      const before = jobs.containers();
      const stopped = await stop(() => isDeepStrictEqual(jobs.containers(), before));
      return { members: before.length, ...stopped };
    },
    holds: ({ attempt, instances }, { members, isSame }) =>
      isSame && attempt === 1 && instances.length === SITES && members === MEMBERS,
    tell: ({ state, attempt }) => `  ${state}, attempt ${attempt}`,
  };
}

function coordinatorAway(
  appliance: LocalAppliance,
  awayS: number,
  progress: (line: string) => void,
): Stop {
  return async (sameProcesses) => {
    await appliance.command(["stop", "coordinator", "--for", "900"]);
    const from = Date.now();
    const gone = (): number => Math.round((Date.now() - from) / 1000);
    let looks = 0;
    for (; Date.now() - from < awayS * 1000; await sleep(LOOK_MS)) {
      if (!sameProcesses()) return { isSame: false, figures: { killed_after_s: gone() } };
      looks += 1;
      progress(`  ${gone()} s: the same three containers`);
    }
    const isSame = sameProcesses();
    await appliance.command(["start", "coordinator"]);
    return {
      isSame,
      figures: { away_s: gone(), looks, same_processes_at_its_end: isSame },
    };
  };
}

function restartOf(appliance: LocalAppliance): Stop {
  return async (sameProcesses) => {
    const from = Date.now();
    await appliance.command(["restart"]);
    const seconds = Math.round((Date.now() - from) / 1000);
    const isSame = sameProcesses();
    return { isSame, figures: { restart_s: seconds, same_processes_at_its_end: isSame } };
  };
}

function toldOf({ end, seen, isGood }: Harmed<Stopped>): Record<string, unknown> {
  return {
    ...{ ok: isGood, state: end.state, attempt: end.attempt, instances: end.instances.length },
    ...{ overlaps: end.overlaps, wrongModels: end.wrongModels, ...seen.figures },
  };
}
