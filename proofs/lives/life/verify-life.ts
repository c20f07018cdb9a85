import { join } from "node:path";
import type { ProofAppliance } from "@resontech/house/proof-appliance";
import type { BundleSummary } from "../../../dev/local-appliance.ts";
import { auditReport, type Verdicts, verdictsOf } from "../../../dev/verify-audit.ts";

/** What the verifier says of the whole log. @param bundles of the releases that ran, one after another; the installed one unless said */
export async function verifyLife(
  installed: ProofAppliance,
  bundles: readonly BundleSummary[] = [installed.bundle],
): Promise<Verdicts> {
  const releases = bundles.map(({ bundle }) => join(bundle, "release.json"));
  return verdictsOf(await auditReport(installed.appliance, installed.folder("audit"), releases));
}
