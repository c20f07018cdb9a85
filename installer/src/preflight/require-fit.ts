import { say } from "../say.ts";
import type { Finding, HostFacts } from "./checks.ts";
import { type BundledTools, describeTools, type HostTools } from "./tools.ts";

/** The host is not ready; each finding was shown with its remedy. */
export class PreflightFailedError extends Error {
  readonly code = "preflight_failed";
}

/** Shows all that was found at once. @throws PreflightFailedError */
export function requireFit(
  engine: "podman" | "docker",
  { tools }: Pick<HostFacts, "tools">,
  findings: readonly Finding[],
  chosen: { source: HostTools; bundled: BundledTools },
): void {
  say("programs of this release and of this host:");
  for (const line of describeTools(engine, tools, process.version, chosen)) say(`  ${line}`);
  const failed = findings.filter((finding) => !finding.ok);
  say(`preflight: ${findings.length - failed.length} of ${findings.length} checks passed`);
  for (const finding of failed) say(`  ${describeFinding(finding)}`);
  if (failed.some((finding) => finding.severity === "error"))
    throw new PreflightFailedError("the host is not ready; nothing was changed");
}

function describeFinding({ id, severity, found, remedy }: Finding): string {
  return `${severity === "error" ? "✗" : "!"} ${id}: ${found}\n      what to do: ${remedy}`;
}
