import { rmSync } from "node:fs";
import { join } from "node:path";
import { CommandFailedError, runChild } from "../run-child.ts";
import type { LocalAppliance } from "./local-appliance.ts";

/** Name → `PASS`, `FAIL` or `NOT CHECKED`. */
export type AuditVerdicts = Record<string, string>;

/** What the verifier says, as far as it is read here. */
export type AuditReport = {
  verdicts: Record<string, { verdict: string; reason: string }>;
  binaries: { compared: number };
};

/** What needs neither witness nor an older checkpoint: whoever alters the log, or tells of one thing in two ways, fails one of them. */
const REQUIRED = ["SIGNATURE", "INTEGRITY", "COMPLETENESS"];

export const isVerified = (verdicts: AuditVerdicts): boolean =>
  REQUIRED.every((name) => verdicts[name] === "PASS");

export const verdictsOf = ({ verdicts }: AuditReport): AuditVerdicts =>
  Object.fromEntries(Object.entries(verdicts).map(([name, { verdict }]) => [name, verdict]));

/** AuditVerdicts by the vendor's release in the bundle. @throws where the log does not say what was started */
export async function verifyAudit(
  appliance: LocalAppliance,
  work: string,
  bundle: string,
): Promise<AuditVerdicts> {
  const report = await auditReport(appliance, work, [join(bundle, "release.json")]);
  // What was started is the bundle's, COMPLETENESS says; where nothing was measured it has nothing to say.
  if (report.binaries.compared === 0) throw new Error("the log says of no part what it runs");
  return verdictsOf(report);
}

/**
 * Exports the log and lets the verifier read nothing but that export, the policy that was written at first boot and the vendor's release.
 * The verifier is the bundle's copy. Node 24 or later checks both signatures; the host's own may be older.
 * @param releases what ran here, one after another; none: what was started is compared with nothing
 */
export async function auditReport(
  appliance: LocalAppliance,
  work: string,
  releases: readonly string[],
): Promise<AuditReport> {
  const file = join(work, "audit.tar");
  rmSync(file, { force: true });
  await appliance.command(["audit", "export", "--out", file]);
  const verifier = join(appliance.root, "current", "app", "sov-verify.mjs");
  const policy = join(appliance.root, "data", "audit.policy");
  const args = [
    verifier,
    "--policy",
    policy,
    ...releases.flatMap((release) => ["--release", release]),
    "--json",
    file,
  ];
  let output: string;
  try {
    output = await runChild(process.execPath, args, { cwd: work });
  } catch (error) {
    // The exit code is a bit mask of failed verdicts; the report on standard output says which.
    if (!(error instanceof CommandFailedError) || error.output === "") throw error;
    output = error.output;
  }
  const report: unknown = JSON.parse(output);
  if (!isReport(report)) throw new Error("the verifier's report has no verdicts");
  return report;
}

function isReport(report: unknown): report is AuditReport {
  if (
    typeof report !== "object" ||
    report === null ||
    !("verdicts" in report) ||
    !("binaries" in report)
  )
    return false;
  const { verdicts, binaries } = report;
  if (typeof verdicts !== "object" || verdicts === null) return false;
  const isVerdict = (value: unknown): boolean =>
    typeof value === "object" && value !== null && "verdict" in value && "reason" in value;
  return Object.values(verdicts).every(isVerdict) && hasCompared(binaries);
}

function hasCompared(binaries: unknown): boolean {
  return (
    typeof binaries === "object" &&
    binaries !== null &&
    "compared" in binaries &&
    typeof binaries.compared === "number"
  );
}
