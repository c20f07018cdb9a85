import { readFileSync } from "node:fs";

/** Time since boot, suspend included (CLOCK_BOOTTIME): what leases are counted in. Injected, so that tests can pass time. */
export type BootClock = () => bigint;

const NS_PER_MS = 1_000_000n;

/** Nanoseconds, in steps of 10 ms. */
export const bootTimeNs: BootClock = () => {
  const [seconds = "0"] = readFileSync("/proc/uptime", "utf8").split(" ");
  const [whole = "0", fraction = "0"] = seconds.split(".");
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
};

export function toMs(ns: bigint): number {
  return Number(ns / NS_PER_MS);
}

export function toNs(ms: number): bigint {
  return BigInt(Math.round(ms)) * NS_PER_MS;
}

/** Tells one boot from the next. */
export function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}
