/** What the kernel says of a container's control group, of version 2 and of version 1. Pure. What a text does not say is null. */

const NANO_OF_MS = 1e6;
const MICRO_OF_MS = 1e3;
/** Version 1 writes "no limit" as the greatest number of pages. */
const NO_LIMIT = 2 ** 60;
/** Of loop devices, by the kernel's list of device numbers. */
const LOOP_MAJOR = "7";

/** Where a container's control groups lie, below the mounts. */
export type ControlGroupPlaces = {
  /** Of version 2; null where there is none. */
  unified: string | null;
  /** Of version 1, by controller. */
  controllers: ReadonlyMap<string, string>;
};

/**
 * Reads `/proc/PID/cgroup`: `0::/path` of version 2, `4:memory:/path` of version 1.
 * @param container the engine's id: what lies below the group of that name is a part of it, and has no limits of its own
 */
export function controlGroupPlaces(text: string, container: string): ControlGroupPlaces {
  const controllers = new Map<string, string>();
  let unified: string | null = null;
  for (const line of text.split("\n")) {
    const [number, names, ...path] = line.split(":");
    if (names === undefined || path.length === 0) continue;
    const place = groupOf(path.join(":"), container);
    if (number === "0" && names === "") unified = place;
    else for (const name of names.split(",")) controllers.set(name, place);
  }
  return { unified, controllers };
}

function groupOf(path: string, container: string): string {
  const parts = path.split("/");
  const own = parts.findIndex((part) => part.includes(container));
  return own === -1 ? path : parts.slice(0, own + 1).join("/");
}

/** `cpu.stat` of version 2. */
export function cpuMsOfStat(text: string): number | null {
  const usec = fieldOf(text, "usage_usec");
  return usec === null ? null : Math.round(usec / MICRO_OF_MS);
}

/** `cpuacct.usage` of version 1. */
export function cpuMsOfUsage(text: string): number | null {
  const nanos = readCount(text);
  return nanos === null ? null : Math.round(nanos / NANO_OF_MS);
}

/** A file of one number. "max" is no number. */
export function readCount(text: string): number | null {
  const trimmed = text.trim();
  return /^\d+$/.test(trimmed) ? Number(trimmed) : null;
}

/** A limit; null where there is none. */
export function limitOf(text: string): number | null {
  const limit = readCount(text);
  return limit === null || limit >= NO_LIMIT ? null : limit;
}

/**
 * What of the memory in use can't be given back at once, as cAdvisor and the engines count it: without files that are cached and were not used lately.
 * @param stat `memory.stat`
 */
export function workingSetOf(inUse: number | null, stat: string): number | null {
  if (inUse === null) return null;
  const cached = fieldOf(stat, "total_inactive_file") ?? fieldOf(stat, "inactive_file") ?? 0;
  return Math.max(0, inUse - cached);
}

export type DiskBytes = { read: number; written: number };

/** `io.stat` of version 2: `8:0 rbytes=1 wbytes=2 …`, a line for each device. */
export function diskBytesOfIoStat(text: string): DiskBytes {
  return sumOfDisks(
    text.split("\n").map((line) => ({
      ...{ major: line.split(":")[0] ?? "", read: keyed(line, "rbytes") },
      written: keyed(line, "wbytes"),
    })),
  );
}

/** A member's disk is a file behind a loop device. Newer kernels count its bytes there and again on the disk beneath, older ones there alone. */
function sumOfDisks(lines: readonly (DiskBytes & { major: string })[]): DiskBytes {
  const sum = (of: "read" | "written"): number => {
    const bytesOf = (isLoop: boolean): number =>
      lines
        .filter(({ major }) => (major === LOOP_MAJOR) === isLoop)
        .reduce((total, line) => total + line[of], 0);
    return Math.max(bytesOf(true), bytesOf(false));
  };
  return { read: sum("read"), written: sum("written") };
}

function keyed(line: string, key: string): number {
  return Number(new RegExp(`\\b${key}=(\\d+)`).exec(line)?.[1] ?? 0);
}

/** A line `name number` among others. */
function fieldOf(text: string, name: string): number | null {
  const found = new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
