/** When a disk fills, in words. Pure. */
import type { DiskForecastReply } from "@resontech/contracts/http-host-history";
import { bytes } from "../../ui/bytes.ts";
import { duration } from "../../ui/instants.ts";

export type Forecast = DiskForecastReply["disks"][number];

/** Less than that in a day is noise. */
const NOISE_BYTES = 10 * 1024 ** 2;

/** @param now Unix milliseconds */
export function forecastWords({ bytesPerDay, fillsAt, seenS }: Forecast, now: number): string {
  if (bytesPerDay === null)
    return "Too little is known to say when it fills: figures of an hour are needed.";
  const seen = `as in the last ${duration(seenS * 1_000)}`;
  const left = fillsAt === null ? null : Date.parse(fillsAt) - now;
  if (left !== null && left <= 0) return "It is full.";
  if (left !== null && bytesPerDay >= NOISE_BYTES)
    return `Fills in ${duration(left)}, on ${new Date(now + left).toISOString().slice(0, 10)}, if ${bytes(bytesPerDay)} a day go on, ${seen}.`;
  return bytesPerDay < -NOISE_BYTES
    ? `Room comes back: ${bytes(-bytesPerDay)} a day, ${seen}.`
    : `Does not fill within five years, ${seen}.`;
}

/** The one that fills first, or is full; null where none does. @param now Unix milliseconds */
export function firstToFill(forecasts: readonly Forecast[], now: number): Forecast | null {
  const filling = forecasts.filter(
    ({ fillsAt, bytesPerDay }) =>
      fillsAt !== null && ((bytesPerDay ?? 0) >= NOISE_BYTES || Date.parse(fillsAt) <= now),
  );
  return filling.toSorted((a, b) => (a.fillsAt! < b.fillsAt! ? -1 : 1))[0] ?? null;
}
