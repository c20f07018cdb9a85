/**
 * A node that sleeps: its agent is frozen (SIGSTOP) for a minute during a real federated job, as a suspended machine would freeze it. The
 * members' own PID 1 must have ended them before the server takes their place for free; the thawed agent must let go of everything before
 * anything new starts; the job goes on from its last committed round.
 *
 * `npm run prove -- frozen-agent [RUNS]` (2 unless said; a node that comes and goes three times in ten minutes is cordoned, so that a third waits)
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import { LIVENESS } from "@resontech/coordinator/liveness";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import type { ProofContext, ProofResult } from "../proof.ts";
import type { Harm } from "./harms/harm.ts";
import { HarmedJobs } from "./harms/harmed-jobs.ts";
import { isByLease, type LeaseDeath, untilDead } from "./judge/lease-death.ts";

const FROZEN_MS = 60_000;
const JOB_LIMIT_MS = 300_000;
/** Six rounds of 8 s are left when the agent is frozen: no member ends by itself before its lease does. */
const JOB = { rounds: 8, ticks: 16 };
/** The server and two sites. */
const MEMBERS = 3;

type Frozen = { death: LeaseDeath; fencedAfterS: number };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const runs = Number(args[0] ?? 2);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  await using harmed = await HarmedJobs.open(installed, progress, {
    ...{ limitMs: JOB_LIMIT_MS, isWatched: true },
  });
  const results = [];
  const returnedBefore: number[] = [];
  const untilNoFlap = async (): Promise<void> => {
    const earlier = returnedBefore.at(1 - LIVENESS.flaps);
    if (earlier === undefined) return;
    progress("waiting, so that the node does not count as one that flaps");
    await sleep(Math.max(0, earlier + LIVENESS.flapWindowMs - Date.now()));
  };
  for (let run = 0; run < runs; run += 1) {
    const freeze = freezeOf(appliance, harmed.jobs, `frozen-${run}`);
    results.push(await harmed.through({ ...freeze, ready: untilNoFlap }));
    returnedBefore.push(Date.now());
  }
  const left = await harmed.leftBehind();
  const audit = await harmed.verify();
  return {
    ok: results.every(({ isGood }) => isGood) && left.length === 0 && isVerified(audit),
    figures: {
      runs: results.map(({ end, seen: { death, fencedAfterS } }) => ({
        ...{ ...death, fencedAfterS, state: end.state, attempt: end.attempt },
        ...{ resumedAt: end.resumedAt, doubles: end.doubles },
        ...{ overlaps: end.overlaps, wrongModels: end.wrongModels },
      })),
      left,
      audit,
    },
  };
}

function freezeOf(appliance: LocalAppliance, jobs: RecordedJobs, name: string): Harm<Frozen> {
  return {
    name,
    job: JOB,
    happen: async (job) => {
      await jobs.untilCommitted(job, 1);
      const agent = appliance.status().parts.find(({ name: part }) => part === "agent")?.pid ?? 0;
      const members = jobs.containers();
      process.kill(agent, "SIGSTOP");
      const from = Date.now();
      const node = { socket: appliance.engineSocket, instance: appliance.instance };
      const death = await untilDead(node, members, from, FROZEN_MS);
      await jobs.until(
        `the fences of ${job}`,
        (db) => fencedOf(db, job) === members.length,
        FROZEN_MS,
      );
      const fencedAfterS = Math.round((Date.now() - from) / 100) / 10;
      await sleep(Math.max(0, from + FROZEN_MS - Date.now()));
      process.kill(agent, "SIGCONT");
      return { death, fencedAfterS };
    },
    holds: ({ attempt, resumedAt }, { death, fencedAfterS }) =>
      isByLease(death, MEMBERS) &&
      fencedAfterS > death.deadAfterS &&
      attempt === 2 &&
      resumedAt >= 2,
    tell: ({ state, attempt, resumedAt }, { death, fencedAfterS }) =>
      `lease over after ${death.leaseEndsAfterS} s, members dead after ${death.deadAfterS} s (exit codes ${death.exitCodes.join()}), ` +
      `fenced after ${fencedAfterS} s; ${state} on attempt ${attempt}, from round ${resumedAt}`,
  };
}

function fencedOf(db: ReturnType<RecordedJobs["open"]>, job: string): number {
  return (
    db
      .prepare<[string], number>(
        "SELECT count(*) FROM members WHERE job_id = ? AND state = 'FENCED'",
      )
      .pluck()
      .get(job) ?? 0
  );
}
