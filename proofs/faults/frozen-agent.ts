/**
 * A node that sleeps: its agent is frozen (SIGSTOP) for a minute during a real federated job, as a suspended machine would freeze it. The
 * members' own PID 1 must have ended them before the server takes their place for free; the thawed agent must let go of everything before
 * anything new starts; the job goes on from its last committed round.
 *
 * `npm run prove -- frozen-agent [RUNS]` (2 unless said; a node that comes and goes three times in ten minutes is cordoned, so that a third waits)
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LIVENESS } from "../../coordinator/src/kernel/decisions/liveness.ts";
import { untilNothingIsLeft } from "../../dev/leftovers.ts";
import { isVerified, verifyAudit } from "../../dev/verify-audit.ts";
import { ApplianceApi } from "../../dev/appliance-api.ts";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { doublesOf } from "./judge/doubles.ts";
import { isByLease, untilDead } from "./judge/lease-death.ts";
import { readRecord } from "./judge/record.ts";
import { RecordedJobs } from "@resontech/house/recorded-job";
import { LivingContainers } from "./watch/living-containers.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const FROZEN_MS = 60_000;
const JOB_LIMIT_MS = 300_000;
/** Six rounds of 8 s are left when the agent is frozen: no member ends by itself before its lease does. */
const JOB = { rounds: 8, ticks: 16 };
/** The server and two sites. */
const MEMBERS = 3;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const runs = Number(args[0] ?? 2);
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  const jobs = await RecordedJobs.open(appliance, installed.folder("frozen"));
  const api = new ApplianceApi(appliance);
  await using living = new LivingContainers();
  const results = [];
  const returnedBefore: number[] = [];
  try {
    for (let run = 0; run < runs; run += 1) {
      const earlier = returnedBefore.at(1 - LIVENESS.flaps);
      if (earlier !== undefined) {
        progress("waiting, so that the node does not count as one that flaps");
        await sleep(Math.max(0, earlier + LIVENESS.flapWindowMs - Date.now()));
      }
      const job = await jobs.submit(`frozen-${run}`, JOB);
      await jobs.untilCommitted(job, 1);
      const agent = appliance.status().parts.find(({ name }) => name === "agent")?.pid ?? 0;
      const members = jobs.containers();
      process.kill(agent, "SIGSTOP");
      const from = Date.now();
      const since = (): number => Math.round((Date.now() - from) / 100) / 10;
      const node = { socket: appliance.engineSocket, instance: appliance.instance };
      const death = await untilDead(node, members, from, FROZEN_MS);
      await jobs.until(
        `the fences of ${job}`,
        (db) => fencedOf(db, job) === members.length,
        FROZEN_MS,
      );
      const fencedAfterS = since();
      await sleep(Math.max(0, from + FROZEN_MS - Date.now()));
      process.kill(agent, "SIGCONT");
      const task = await api.untilEnded(job, JOB_LIMIT_MS);
      returnedBefore.push(Date.now());
      const { overlaps, wrongModels, attempts } = readRecord(appliance, job);
      const resumedAt = attempts.at(-1)?.startRound ?? 0;
      const result = {
        ...death,
        fencedAfterS,
        state: task.status,
        attempt: task.detail.attempt,
        resumedAt,
        doubles: doublesOf(jobs, job, await living.seen()),
        overlaps,
        wrongModels,
      };
      results.push(result);
      progress(
        `lease over after ${death.leaseEndsAfterS} s, members dead after ${death.deadAfterS} s (exit codes ${death.exitCodes.join()}), ` +
          `fenced after ${fencedAfterS} s; ${task.status} on attempt ${task.detail.attempt}, from round ${resumedAt}`,
      );
    }
    const left = await untilNothingIsLeft(appliance);
    const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
    const ok =
      results.every(
        (one) =>
          isByLease(one, MEMBERS) &&
          one.fencedAfterS > one.deadAfterS &&
          one.state === "FINISHED" &&
          one.attempt === 2 &&
          one.resumedAt >= 2 &&
          one.doubles.length === 0 &&
          one.overlaps.length === 0 &&
          one.wrongModels.length === 0,
      ) &&
      left.length === 0 &&
      isVerified(audit);
    return { ok, figures: { runs: results, left, audit } };
  } finally {
    api.close();
  }
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
