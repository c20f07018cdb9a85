/**
 * Memory of the installed appliance, by process, 60 s after its last job ended: proportional set size, which counts what processes share once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { resourcesByPart } from "./measure/resources-by-part.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const GOAL_BYTES = 1.2e9;
const QUIET_MS = 60_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress);
  const workstation = await installed.workstation("memory");
  progress("one federated job");
  const job = await workstation.submit((line) => progress(`  ${line}`));
  if (job.state !== "FINISHED") throw new Error(`the job ended ${job.state}`);
  progress(`waiting ${QUIET_MS / 1000} s`);
  await sleep(QUIET_MS);
  const parts = Object.entries(resourcesByPart(installed.appliance));
  const total = parts.reduce((sum, [, { pssBytes }]) => sum + pssBytes, 0);
  const inMb = Object.fromEntries(
    parts.map(([part, { pssBytes }]) => [part, Number((pssBytes / 1e6).toFixed(1))]),
  );
  return {
    ok: total <= GOAL_BYTES && total > 0,
    figures: {
      pss_total_mb: Number((total / 1e6).toFixed(1)),
      goal_mb: GOAL_BYTES / 1e6,
      pss_mb: inMb,
    },
  };
}
