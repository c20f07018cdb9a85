import { join } from "node:path";
import { readRelease } from "@resontech/appliance/release";
import { Journal } from "../journal.ts";
import { NotInstalledError } from "../uninstall.ts";
import { bundledTools } from "./bundled-tools.ts";
import { check, type Finding, type HostFacts } from "./checks.ts";
import { readHostFacts, useByAppliance } from "./host-facts.ts";

/**
 * Looks at the host once more, as the install did. Ports that the appliance itself holds count as free while it runs.
 *
 * @throws NotInstalledError
 */
export async function evaluateInstalled(
  root: string,
): Promise<{ facts: HostFacts; findings: Finding[] }> {
  const config = new Journal(root).lastBegin?.request.config;
  if (config === undefined)
    throw new NotInstalledError(`${root} has no journal of an install that began`);
  const release = readRelease(join(root, "current"));
  const facts = await readHostFacts(root, useByAppliance(root, config, release));
  const findings = check(facts, {
    ...{ root, config, hostTools: config.hostTools ?? "host" },
    ...{ bundledTools: bundledTools(release), clockFloorS: release.sourceDateEpoch },
  });
  return { facts, findings };
}
