import { readdirSync, readFileSync } from "node:fs";
import type { UidRange } from "@resontech/contracts/uid-range";
import { chooseUid } from "./decisions/job-uid.ts";

/**
 * The member's own user (= group): nobody of this host, also who came after preflight, nor another agent's job that runs here.
 * @param others users of this agent's other members
 */
export function takeUid(range: UidRange, name: string, others: readonly number[]): number {
  const uid = chooseUid(range, name, new Set([...others, ...hostUids(), ...runningUids()]));
  if (uid === null)
    throw new Error("every user of the range for jobs is taken: state a wider one (jobUids)");
  return uid;
}

function hostUids(): number[] {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  return lines.flatMap((line) => /^[^:]*:[^:]*:(\d+):/.exec(line)?.[1] ?? []).map(Number);
}

function runningUids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        // Real, effective, saved, file system: our jobs have one for all.
        const [, uid] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
        return uid === undefined ? [] : [Number(uid)];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}
