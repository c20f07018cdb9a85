/** Pure: how many replicas the calls of a deployment ask for, by whichever of its targets asks for the most. */
import type { Scaling } from "../../workloads/predictor/scaling.ts";

export type Demand = {
  /** Under way and waiting. */
  calls: number;
  /** Of the last seconds; null where nobody counted. */
  requestsPerSecond: number | null;
  /** Mean use of the devices of replicas that serve, 0 to 1; null where nobody measures. */
  deviceUse: number | null;
};

/** So near to its target a device's use asks for nothing: it is never still. */
const TOLERANCE = 0.1;

/** @param serving replicas that take calls, of which the use is the mean */
export function wantedReplicas(
  { calls, requestsPerSecond, deviceUse }: Demand,
  { targetOngoing, targetRequestsPerSecond, targetDeviceUse }: Scaling,
  serving: number,
): number {
  const asked = [Math.ceil(calls / targetOngoing)];
  if (targetRequestsPerSecond !== undefined && requestsPerSecond !== null)
    asked.push(Math.ceil(requestsPerSecond / targetRequestsPerSecond));
  const isCalled = calls > 0 || (requestsPerSecond ?? 0) > 0;
  // A device that is busy by itself is no reason to keep what nobody calls.
  if (targetDeviceUse !== undefined && deviceUse !== null && isCalled) {
    const share = deviceUse / targetDeviceUse;
    asked.push(Math.abs(share - 1) <= TOLERANCE ? serving : Math.ceil(serving * share));
  }
  return Math.max(...asked);
}
