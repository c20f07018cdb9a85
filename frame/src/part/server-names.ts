import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { formerName } from "@resontech/contracts/former-name";

/** Lists the names by which the appliance's own servers are called. */
export function serverNames(appliance: ApplianceConfig): string[] {
  return [
    ...new Set([
      ...[appliance.name, ...formerName(appliance), appliance.address],
      ...["localhost", "127.0.0.1"],
    ]),
  ];
}
