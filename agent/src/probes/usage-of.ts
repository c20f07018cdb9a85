import type { DeviceUsage } from "./accelerator-probe.ts";

/** Percent, watts and degrees Celsius, each null where the tool does not say. */
export function usageOf(
  utilizationPercent: number | null,
  powerWatts: number | null,
  temperatureC: number | null,
): DeviceUsage {
  return {
    ...(utilizationPercent === null ? {} : { utilizationPercent }),
    ...(powerWatts === null ? {} : { powerWatts }),
    ...(temperatureC === null ? {} : { temperatureC }),
  };
}
