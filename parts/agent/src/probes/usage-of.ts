import type { DeviceUsage } from "./accelerator-probe.ts";

/** As much as a beat may say (`DeviceUse`): a beat that is refused would cost the node its lease. */
const MOST = { percent: 100, watts: 100_000, degrees: 1_000 } as const;

/** Percent, watts and degrees Celsius, each null where the tool does not say; what no device can be is not told either. */
export function usageOf(
  percent: number | null,
  watts: number | null,
  degrees: number | null,
): DeviceUsage {
  return {
    ...(isWithin(percent, MOST.percent) ? { utilizationPercent: percent } : {}),
    ...(isWithin(watts, MOST.watts) ? { powerWatts: watts } : {}),
    ...(isWithin(degrees, MOST.degrees) ? { temperatureC: degrees } : {}),
  };
}

function isWithin(value: number | null, most: number): value is number {
  return value !== null && value >= 0 && value <= most;
}
