/** The life of an appliance in one go: `install.sh`, a federated job, its log verified, uninstall. Proofs run it in networks of their own. */
import { hostState } from "../../dev/host-state.ts";
import type { BundleSummary } from "../../dev/local-appliance.ts";
import { isVerified, verifyAudit } from "../../dev/verify-audit.ts";
import type { ProofResult } from "../proof.ts";
import { ProofAppliance } from "./proof-appliance.ts";

export async function wholeLife(
  progress: (line: string) => void,
  bundle: BundleSummary,
): Promise<ProofResult> {
  const installed = await ProofAppliance.install(progress, bundle);
  const { appliance, installSeconds } = installed;
  const { instance, root } = appliance;
  const { job, heldOut, audit } = await (async () => {
    await using _ = installed;
    const workstation = await installed.workstation("job");
    const job = await workstation.submit((line) => progress(`  ${line}`));
    const heldOut = await workstation.evaluate();
    return {
      job,
      heldOut,
      audit: await verifyAudit(appliance, installed.folder("audit"), bundle.bundle),
    };
  })();
  const left = hostState(instance, root);
  const { state, seconds, accuracyByRound } = job;
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
        seconds: Number(seconds.toFixed(1)),
        accuracy_by_round: accuracyByRound,
        held_out: heldOut,
      },
      audit,
      left_after_uninstall: left,
    },
  };
}
