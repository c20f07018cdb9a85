import { readdirSync, readFileSync } from "node:fs";
import type { LocalAppliance } from "../../dev/local-appliance.ts";

export type Resources = {
  /** Proportional set size, which counts what processes share once. */
  pssBytes: number;
  /** Open file descriptors. */
  files: number;
};

/** Of each part of an appliance. A part is its process with all descendants, and the container monitor above it; the supervisor is what remains. */
export function resourcesByPart(appliance: LocalAppliance): Record<string, Resources> {
  const { parts } = appliance.status();
  const partOf = new Map(parts.flatMap(({ name, pid }) => (pid === null ? [] : [[pid, name] as const])));
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const parent = parentOf(Number(name));
        return parent === null ? [] : [[Number(name), parent] as const];
      }),
  );
  const owner = (pid: number): string | undefined => {
    for (let at = pid; at > 1; at = parents.get(at) ?? 0) {
      const part = partOf.get(at);
      if (part !== undefined) return part;
    }
    // Parents of parts: the supervisor, and one monitor for each engine in a container.
    const child = [...partOf].find(([part]) => parents.get(part) === pid);
    if (child === undefined) return undefined;
    return commandOf(pid) === "conmon" ? child[1] : "supervisor";
  };
  const sums: Record<string, Resources> = {};
  for (const pid of parents.keys()) {
    const part = owner(pid);
    if (part === undefined) continue;
    const { pssBytes, files } = sums[part] ?? { pssBytes: 0, files: 0 };
    sums[part] = { pssBytes: pssBytes + pssOf(pid), files: files + filesOf(pid) };
  }
  return sums;
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

function pssOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // It has ended meanwhile.
  }
}

function filesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // It has ended meanwhile.
  }
}
