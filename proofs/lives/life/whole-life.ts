/**
 * The life of an appliance in one go: `install.sh`, a federated job, a newer release and back, its log verified, uninstall. Proofs run it in networks of
 * their own.
 */
import { buildOwnBundle, type BundleSummary } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import type { ProofResult } from "../../proof.ts";
import { liveAndUninstall } from "./live-and-uninstall.ts";
import type { TestReleases } from "./test-releases.ts";
import { verifyLife } from "./verify-life.ts";
import { ProofAppliance } from "@resontech/house/proof-appliance";

/** @property newer what it is upgraded to */
export type LifeBundles = { bundle: BundleSummary; newer: BundleSummary };

/** Built where the network may be used. */
export async function buildForLife(releases: TestReleases): Promise<LifeBundles> {
  const bundle = await buildOwnBundle();
  const newer = await releases.ofThis("newer", { version: "0.9.0", releaseNumber: 2 });
  return { bundle, newer };
}

export async function wholeLife(
  progress: (line: string) => void,
  { bundle, newer }: LifeBundles,
): Promise<ProofResult> {
  const installed = await ProofAppliance.install(progress, bundle);
  const { appliance, installSeconds } = installed;
  const { lived, left } = await liveAndUninstall(installed, async () => {
    const workstation = await installed.workstation("job");
    const job = await workstation.submit((line) => progress(`  ${line}`));
    const heldOut = await workstation.evaluate();
    progress("a newer release, and back");
    const upgradeS = await seconds(() => appliance.upgrade(newer.bundle));
    const rollbackS = await seconds(() => appliance.command(["rollback", "--yes"]));
    return {
      job,
      ...{ heldOut, upgrade_s: upgradeS, rollback_s: rollbackS },
      audit: await verifyLife(installed, [bundle, newer]),
    };
  });
  const { job, heldOut, audit, ...switched } = lived;
  const { state, seconds: jobSeconds, accuracyByRound } = job;
  return {
    ok:
      state === "FINISHED" &&
      (accuracyByRound.at(-1) ?? 0) > (accuracyByRound[0] ?? 1) &&
      isVerified(audit) &&
      left.length === 0,
    figures: {
      install_s: Number(installSeconds.toFixed(1)),
      job: {
        state,
        seconds: Number(jobSeconds.toFixed(1)),
        accuracy_by_round: accuracyByRound,
        held_out: heldOut,
      },
      ...switched,
      audit,
      left_after_uninstall: left,
    },
  };
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const from = Date.now();
  await work();
  return Number(((Date.now() - from) / 1_000).toFixed(1));
}
