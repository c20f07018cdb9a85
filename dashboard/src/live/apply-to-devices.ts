/** Curves of a job's devices after a reading that came live. Pure. */
import { devicePoints } from "@resontech/contracts/device-curves";
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import { withPoint } from "./with-point.ts";
import type { Told } from "./told.ts";

export function applyToDevices(devices: JobMetricsReply, { at, change }: Told): JobMetricsReply {
  if (change.kind !== "device-use" || change.number <= devices.upTo) return devices;
  const began = devices.began ?? at;
  const place = Math.max(0, Date.parse(at) - Date.parse(began)) / 1000;
  let { series } = devices;
  for (const [name, value] of devicePoints(change))
    series = withPoint(series, { site: change.site, name, axis: "seconds" }, [
      ...([place, value, value, value] as const),
    ]);
  return { series, began, upTo: change.number };
}
