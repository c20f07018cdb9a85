import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { parentOf } from "./parent-of.ts";

export type Resources = {
  /** Proportional set size, which counts what processes share once. */
  pssBytes: number;
  /** Open file descriptors, but for {@link tables}. */
  files: number;
  /** PostgreSQL keeps each table that a connection has used open in it: they grow to the number of tables, which is no leak. */
  tables: number;
};

/** A file of a table or an index that still exists; open twice in one process, the second counts as any other. */
const TABLE = /^\/data\/cluster\/(?:base\/\d+|global)\/\d[\w.]*$/;

/** Of each part of an appliance. A part is its process with all descendants, and the container monitor above it; the supervisor is what remains. */
export function resourcesByPart(appliance: LocalAppliance): Record<string, Resources> {
  const { parts } = appliance.status();
  const partOf = new Map(
    parts.flatMap(({ name, pid }) => (pid === null ? [] : [[pid, name] as const])),
  );
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
    const { pssBytes, files, tables } = sums[part] ?? { pssBytes: 0, files: 0, tables: 0 };
    const open = openFilesOf(pid);
    const cached = new Set(open.filter((path) => TABLE.test(path))).size;
    sums[part] = {
      pssBytes: pssBytes + pssOf(pid),
      files: files + open.length - cached,
      tables: tables + cached,
    };
  }
  return sums;
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
    return (
      Number(
        /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0,
      ) * 1024
    );
  } catch {
    return 0; // It has ended meanwhile.
  }
}

/** What each of its file descriptors leads to. */
function openFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((fd) => {
      try {
        return [readlinkSync(`${folder}/${fd}`)];
      } catch {
        return []; // Closed meanwhile.
      }
    });
  } catch {
    return []; // It has ended meanwhile.
  }
}
