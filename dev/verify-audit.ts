import { rmSync } from "node:fs";
import { join } from "node:path";
import { CommandFailedError, runChild } from "./child.ts";
import type { LocalAppliance } from "./local-appliance.ts";

/** Verdict → `PASS`, `FAIL` or `NOT CHECKED`. */
export type Verdicts = Record<string, string>;

/**
 * Exports the log and lets the verifier read nothing but that export, the policy that was written at first boot and the vendor's release.
 * The verifier is the bundle's copy. Node 24 or later checks both signatures; the host's own may be older.
 */
export async function verifyAudit(appliance: LocalAppliance, work: string, bundle: string): Promise<Verdicts> {
  const file = join(work, "audit.tar");
  rmSync(file, { force: true });
  await appliance.command(["audit", "export", "--out", file]);
  const verifier = join(appliance.root, "current", "app", "sov-verify.mjs");
  const policy = join(appliance.root, "data", "audit.policy");
  const args = [verifier, "--policy", policy, "--release", join(bundle, "release.json"), "--json", file];
  let output: string;
  try {
    output = await runChild(process.execPath, args, { cwd: bundle });
  } catch (error) {
    // The exit code is a bit mask of failed verdicts; the report on standard output says which.
    if (!(error instanceof CommandFailedError) || error.output === "") throw error;
    output = error.output;
  }
  const report: unknown = JSON.parse(output);
  requireMeasured(report);
  return readVerdicts(report);
}

/** That what was started is the bundle's, COMPLETENESS says; where nothing was measured it has nothing to say. */
function requireMeasured(report: unknown): void {
  const binaries = typeof report === "object" && report !== null && "binaries" in report ? report.binaries : null;
  if (typeof binaries !== "object" || binaries === null || !("compared" in binaries) || binaries.compared === 0)
    throw new Error("the log says of no part what it runs");
}

function readVerdicts(report: unknown): Verdicts {
  if (typeof report !== "object" || report === null || !("verdicts" in report))
    throw new Error("the verifier's report has no verdicts");
  const { verdicts } = report;
  if (typeof verdicts !== "object" || verdicts === null) throw new Error("the verifier's report has no verdicts");
  const read: Verdicts = {};
  for (const [name, value] of Object.entries(verdicts)) {
    const verdict: unknown = typeof value === "object" && value !== null && "verdict" in value ? value.verdict : value;
    read[name] = String(verdict);
  }
  return read;
}
