import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import type { Finding } from "./checks.ts";

/** Flag → value. Files, log, certificates and names of an installed appliance carry these; another one would leave the old behind. */
const IMMUTABLE: Readonly<Record<string, (config: ApplianceConfig) => string | number | null>> = {
  instance: (config) => config.instance,
  appliance: (config) => config.appliance,
  customer: (config) => config.customer,
  "uid-base": (config) => config.uidBase,
  "key-kind": (config) => config.keyKind,
  engine: (config) => config.containerEngine.kind,
  "host-tools": ({ hostTools }) => hostTools ?? "host",
  node: (config) => config.agent?.node ?? null,
};

/** A finding for each choice that an installed appliance can't change. */
export function immutableChange(installed: ApplianceConfig, wanted: ApplianceConfig): Finding[] {
  return Object.entries(IMMUTABLE).map(([flag, valueOf]) => ({
    id: `unchanged-${flag}`,
    ok: valueOf(installed) === valueOf(wanted),
    severity: "error",
    found: `installed with ${valueOf(installed)}, asked for ${valueOf(wanted)}`,
    remedy: `give the --${flag} that it was installed with, or uninstall it first`,
  }));
}
