/**
 * Memory of the installed appliance, by process, 60 s after its last job ended: proportional set size, which counts what processes share once.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "../dev/local-appliance.ts";
import { ProofAppliance } from "./appliance/proof-appliance.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const GOAL_BYTES = 1.2e9;
const QUIET_MS = 60_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress);
  const workstation = await installed.workstation("memory");
  progress("one federated job");
  const job = await workstation.submit((line) => progress(`  ${line}`));
  if (job.state !== "FINISHED") throw new Error(`the job ended ${job.state}`);
  progress(`waiting ${QUIET_MS / 1000} s`);
  await sleep(QUIET_MS);
  const pss = pssByPart(installed.appliance);
  const total = Object.values(pss).reduce((sum, bytes) => sum + bytes, 0);
  const inMb = Object.fromEntries(Object.entries(pss).map(([part, bytes]) => [part, Number((bytes / 1e6).toFixed(1))]));
  return {
    ok: total <= GOAL_BYTES && total > 0,
    figures: { pss_total_mb: Number((total / 1e6).toFixed(1)), goal_mb: GOAL_BYTES / 1e6, pss_mb: inMb },
  };
}

/** A part is its process with all descendants, and the container monitor above it; the supervisor is what remains. */
function pssByPart(appliance: LocalAppliance): Record<string, number> {
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
  const sums: Record<string, number> = {};
  for (const pid of parents.keys()) {
    const part = owner(pid);
    if (part !== undefined) sums[part] = (sums[part] ?? 0) + pssBytes(pid);
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

function pssBytes(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // It has ended meanwhile.
  }
}
