/** Numbers of bytes as people read them. Pure. */
import { withSizes } from "@resontech/contracts/size-words";

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** `9 bytes`, `1.5 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  let [value, unit] = [bytes / 1024, 0];
  // What would be shown as 1024.0 is one of the next unit.
  for (; value >= 1023.95 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** What the appliance says of a job, with limits in these units. */
export function toldWithUnits(message: string): string {
  return withSizes(message, size);
}
