/** What the kernel says of the whole host. Pure; null where a text does not say it. */

/** Ticks of the kernel's clock as it shows them, each second: the same on every architecture. */
const TICK_MS = 10;
const KIB = 1024;
/** In the first line of `/proc/stat`, after the name: which times are idle, and which stand in others already. */
const [IDLE, WAITING, GUEST] = [3, 4, 8];

/** Time that all processors together were busy, of `/proc/stat`: waiting for a disk is none. */
export function busyMsOf(stat: string): number | null {
  const times = /^cpu +(.+)$/m.exec(stat)?.[1]?.split(" ").map(Number);
  if (times === undefined) return null;
  const busy = times.slice(0, GUEST).filter((_, place) => place !== IDLE && place !== WAITING);
  return busy.reduce((sum, ticks) => sum + ticks, 0) * TICK_MS;
}

/** Processors that `/proc/stat` tells of. */
export function processorsOf(stat: string): number | null {
  return stat.match(/^cpu\d+ /gm)?.length ?? null;
}

/** Of `/proc/meminfo`; what could be given back is not in use. */
export function memoryOf(meminfo: string): { bytes: number; inUseBytes: number } | null {
  const [total, available] = ["MemTotal", "MemAvailable"].map((name) =>
    new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(meminfo),
  );
  if (total == null || available == null) return null;
  const bytes = Number(total[1]) * KIB;
  return { bytes, inUseBytes: Math.max(0, bytes - Number(available[1]) * KIB) };
}
