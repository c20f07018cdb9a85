import { readFileSync } from "node:fs";

/** Nanoseconds since boot, suspend included (as CLOCK_BOOTTIME): what leases are counted in. Steps of 10 ms. */
export function bootTimeNs(): bigint {
  const [seconds = "0"] = readFileSync("/proc/uptime", "utf8").split(" ");
  const [whole = "0", fraction = "0"] = seconds.split(".");
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}

export function bootTimeMs(): number {
  return Number(bootTimeNs() / 1_000_000n);
}

/** Tells one boot from the next. */
export function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}
