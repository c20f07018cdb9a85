import { join } from "node:path";
import type { ProofAppliance } from "@resontech/house/proof-appliance";
import type { BundleSummary } from "@resontech/house/local-appliance";
import { auditReport, type AuditVerdicts, verdictsOf } from "@resontech/house/verify-audit";

/** What the verifier says of the whole log. @param bundles of the releases that ran, one after another; the installed one unless said */
export async function verifyLife(
  installed: ProofAppliance,
  bundles: readonly BundleSummary[] = [installed.bundle],
): Promise<AuditVerdicts> {
  const releases = bundles.map(({ bundle }) => join(bundle, "release.json"));
  return verdictsOf(await auditReport(installed.appliance, installed.folder("audit"), releases));
}
