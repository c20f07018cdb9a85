import { readdirSync, readFileSync } from "node:fs";
import { DEFAULT_JOB_UIDS } from "@resontech/contracts/uid-range";
import { chooseUid } from "../decisions/job-uid.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "./member-failure.ts";

/** The member's own user (= group), noted in its record: nobody of this host, also who came after preflight, nor another agent's job that runs here. */
export function takeUid({ tools, journal, ref, containerName }: MemberContext): number {
  const known = journal.state.uid;
  if (known !== null) return known;
  const others = tools.store.load().filter(({ desired }) => desired.member !== ref.member);
  const taken = new Set([...others.map(({ uid }) => uid ?? 0), ...hostUids(), ...runningUids()]);
  const uid = chooseUid(tools.config.jobUids ?? DEFAULT_JOB_UIDS, containerName, taken);
  if (uid === null)
    throw new MemberFailure("agent_fault", "every user of the range for jobs is taken: state a wider one (jobUids)");
  journal.note({ uid });
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
