import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { HOST_TOOLS } from "@resontech/contracts/release-manifest";

/** An operator's shell, or a service manager, may be without the system's folders. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Reads where the programs of a release's tree look for themselves; null where the release brings none. */
export function toolsHome(release: string): string | null {
  const file = join(release, HOST_TOOLS, "location");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

/** Answers the environment in which Podman, nft, mount and the like are found: this release's first, where the install chose them. */
export function toolsEnvironment(
  { hostTools }: Pick<ApplianceConfig, "hostTools">,
  release: string,
): Record<string, string> {
  const home = hostTools === "bundle" ? toolsHome(release) : null;
  if (home === null) return { PATH: SYSTEM_PATH };
  return {
    PATH: `${home}/bin:${SYSTEM_PATH}`,
    // iptables has a folder of Debian's compiled in.
    XTABLES_LIBDIR: `${home}/lib/xtables`,
  };
}
