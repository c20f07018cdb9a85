/**
 * Federated jobs with models of more than a gigabyte, through the public client and the installed appliance: 1.1 GB on two sites, 2.3 GB on one.
 * Each ends well, in its first attempt or, where the server's memory was guessed too small, in its second.
 *
 * `npm run prove -- large-models [PERCENT]` of those sizes, 100 unless said otherwise (32 GB of memory, 30 GB of disk)
 */
import { cpSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { repository } from "@resontech/house/local-appliance";
import { Workstation } from "@resontech/house/workstation";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";

const CASES = [
  { name: "large-two-sites", megabytes: 1_100, sites: 2 },
  { name: "large-one-site", megabytes: 2_300, sites: 1 },
] as const;
const JOB_LIMIT_MS = 1_800_000;
/** At full size: the largest server and its clients at their peaks. */
const NEEDED_BYTES = 30e9;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const percent = Number(args[0] ?? 100);
  const needed = (NEEDED_BYTES * percent) / 100;
  if (totalmem() < needed)
    throw new Error(`this machine has ${totalmem()} bytes of memory, ${needed} are needed`);
  const cases = CASES.map(({ megabytes, ...one }) => ({
    ...one,
    megabytes: Math.round((megabytes * percent) / 100),
  }));
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  const scripts = installed.folder("scripts");
  cpSync(join(repository, "proofs", "lives", "large-models"), scripts, { recursive: true });
  const workstation = await Workstation.open(appliance, installed.folder("large"), scripts);
  const api = new ApplianceApi(appliance);
  const runs: Record<string, unknown>[] = [];
  try {
    for (const { name, megabytes, sites } of cases) {
      progress(`${megabytes} MB on ${sites} ${sites === 1 ? "site" : "sites"}`);
      const from = Date.now();
      const told = await workstation.events([
        "/example/submit.py",
        name,
        String(megabytes),
        String(sites),
      ]);
      const { id, modelBytes } = told.at(-1) ?? {};
      const task = await api.untilEnded(String(id), JOB_LIMIT_MS);
      const seconds = Math.round((Date.now() - from) / 1000);
      const { attempt, error } = task.detail;
      progress(`${task.status} after ${seconds} s in attempt ${attempt} ${error?.message ?? ""}`);
      runs.push({
        megabytes,
        sites,
        status: task.status,
        seconds,
        attempt,
        modelBytes,
        warnings: task.warnings,
      });
    }
  } finally {
    api.close();
  }
  const isStored = cases.every(
    ({ megabytes }, at) => Number(runs[at]?.["modelBytes"]) >= megabytes * 1e6,
  );
  return {
    ok: isStored && runs.every(({ status }) => status === "FINISHED"),
    figures: { percent, runs },
  };
}
