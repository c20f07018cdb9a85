/**
 * Planned stops during real federated jobs: five minutes without a coordinator, then a restart of every part. Nothing of a job may be killed:
 * the same processes before and after, the first attempt FINISHED, the job's own record whole.
 *
 * `npm run prove -- planned-stop [SECONDS]` (300 unless said)
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { untilNothingIsLeft } from "../../dev/leftovers.ts";
import { isVerified, verifyAudit } from "../../dev/verify-audit.ts";
import { ApplianceApi } from "../../dev/appliance-api.ts";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { readRecord } from "../faults/judge/record.ts";
import { RecordedJobs } from "@resontech/house/recorded-job";
import type { ProofContext, ProofResult } from "../proof.ts";

const ROUNDS = 4;
const LOOK_MS = 10_000;
const JOB_LIMIT_MS = 900_000;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const awayS = Number(args[0] ?? 300);
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  const jobs = await RecordedJobs.open(appliance, installed.folder("planned"));
  const api = new ApplianceApi(appliance);
  /** Runs a job, stops parts in its second round, and tells what became of it. */
  const during = async (
    name: string,
    ticks: number,
    stop: (sameProcesses: () => boolean) => Promise<Record<string, unknown>>,
  ) => {
    const job = await jobs.submit(name, { rounds: ROUNDS, ticks });
    await jobs.untilRound(job, 1);
    const before = jobs.containers();
    const figures = await stop(() => isDeepStrictEqual(jobs.containers(), before));
    const task = await api.untilEnded(job, JOB_LIMIT_MS);
    const { instances, overlaps, wrongModels } = readRecord(appliance, job);
    const isWhole = instances.length === 2 && overlaps.length === 0 && wrongModels.length === 0;
    const ok =
      task.status === "FINISHED" && task.detail.attempt === 1 && isWhole && before.length === 3;
    return {
      ok,
      state: task.status,
      attempt: task.detail.attempt,
      instances: instances.length,
      overlaps,
      wrongModels,
      ...figures,
    };
  };
  try {
    progress(`a job without a coordinator for ${awayS} s`);
    // Rounds long enough that the job still runs when the coordinator is back.
    const coordinator = await during(
      "planned-coordinator",
      Math.ceil(awayS / 1.5),
      async (sameProcesses) => {
        await appliance.command(["stop", "coordinator", "--for", "900"]);
        const from = Date.now();
        let looks = 0;
        for (let isSame = true; Date.now() - from < awayS * 1000; await sleep(LOOK_MS)) {
          isSame = sameProcesses();
          if (!isSame) return { killed_after_s: Math.round((Date.now() - from) / 1000), ok: false };
          looks += 1;
          progress(`  ${Math.round((Date.now() - from) / 1000)} s: the same three containers`);
        }
        const wasSame = sameProcesses();
        await appliance.command(["start", "coordinator"]);
        return {
          away_s: Math.round((Date.now() - from) / 1000),
          looks,
          same_processes_at_its_end: wasSame,
        };
      },
    );
    progress(`  ${coordinator.state}, attempt ${coordinator.attempt}`);

    progress("a restart of every part during a job");
    const everything = await during("planned-restart", 60, async (sameProcesses) => {
      const from = Date.now();
      await appliance.command(["restart"]);
      return {
        restart_s: Math.round((Date.now() - from) / 1000),
        same_processes_at_its_end: sameProcesses(),
      };
    });
    progress(`  ${everything.state}, attempt ${everything.attempt}`);

    const left = await untilNothingIsLeft(appliance);
    const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
    const isSame = (one: Record<string, unknown>) => one["same_processes_at_its_end"] === true;
    const ok =
      [coordinator, everything].every((one) => one.ok && isSame(one)) &&
      left.length === 0 &&
      isVerified(audit);
    return { ok, figures: { coordinator, everything, left, audit } };
  } finally {
    api.close();
  }
}
