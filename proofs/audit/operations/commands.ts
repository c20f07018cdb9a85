import { join } from "node:path";
import type { LocalAppliance } from "../../../dev/local-appliance.ts";
import type { ApplianceLog } from "../appliance-log.ts";

/** Commands that a running appliance can be given without harm, and the leaf that each must leave. */
export async function commandsRecorded(appliance: LocalAppliance, log: ApplianceLog, progress: (line: string) => void) {
  progress("commands of the operator");
  const size = await log.size();
  await appliance.command(["restart", "registry"]);
  await appliance.command(["stop", "registry"]);
  await appliance.command(["start", "registry"]);
  await appliance.command(["add-user", "second"]);
  await appliance.command(["join-token", "other-node"]);
  // Asks the coordinator for a password for each repository.
  await appliance.command(["image", "check"]);
  await appliance.command(["audit", "export", "--out", join(appliance.root, "data", "proof-export.tar")]);
  const done = (await log.since(size)).filter(({ phase }) => phase === "completed").map(({ type }) => type);
  const installed = (await log.since(0)).some(({ type, phase }) => type === "admin.install" && phase === "completed");
  const wanted = [
    "admin.restart",
    "admin.stop",
    "admin.start",
    "iam.user.create",
    "iam.node.join-token",
    "admin.control",
    "audit.export",
  ];
  const missing = wanted.filter((type) => !done.some((other) => other === type));
  return { found: wanted.length - missing.length, missing: installed ? missing : [...missing, "admin.install"] };
}
