import type { ApplianceConfig } from "./appliance-config.ts";

/** The name before, while the appliance's own certificates have it as well. */
export function formerName({ formerName: former }: ApplianceConfig, now = Date.now()): string[] {
  return former !== undefined && Date.parse(former.until) > now ? [former.name] : [];
}
