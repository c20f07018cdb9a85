/** What the end of a member's container means. The engine's facts, the runner's last word and the disk are put together here alone. */
import type { AgentReason } from "@resontech/contracts/job-reasons";
import { EXIT } from "@resontech/contracts/runner";

/** Exit codes of rt-init (parts/agent/init/main.go); no payload's own code comes through as one of them. */
const INIT_EXIT = { leaseLost: 75, outOfMemory: 76 } as const;
const KILLED = 137;
const MAX_LAST_WORD_CHARS = 300;
/** Both say that somebody else ended it: nobody of ours did, or its end would not be judged. */
const ENDED_FROM_OUTSIDE: readonly number[] = [KILLED, EXIT.stopped];

export type Failure = { reason: AgentReason; message: string; detail?: string; site?: string };

/** What the runner said last in its events. */
export type Verdict = { kind: "finished" } | ({ kind: "failed" } & Failure);

export type End = {
  exitCode: number;
  oomKilled: boolean;
  verdict: Verdict | null;
  /** The last lines that a payload without a verdict printed; null where there are none. */
  printed: string | null;
  isDiskFull: boolean;
  limits: { memoryBytes: number; diskBytes: number };
};

/** What a person knows the end by: codes of rt-init stand for what it saw. Null where it ended the container on its own. */
export function toldExitCode({
  exitCode,
  oomKilled,
}: Pick<End, "exitCode" | "oomKilled">): number | null {
  if (oomKilled || exitCode === INIT_EXIT.outOfMemory) return KILLED;
  return exitCode === INIT_EXIT.leaseLost ? null : exitCode;
}

/**
 * Whether a member that was asked to commit ended because of that: by its runner's own word, or because its time was over.
 * @param isOverdue its agent ended it
 */
export function isEndAsOrdered(
  { exitCode, oomKilled, verdict }: Pick<End, "exitCode" | "oomKilled" | "verdict">,
  isOverdue: boolean,
): boolean {
  if (verdict !== null || oomKilled) return false;
  return exitCode === EXIT.stopped || (isOverdue && exitCode === KILLED);
}

/** Says why a container failed; null when the payload did all it had to. */
export function evaluateEnd({
  exitCode,
  oomKilled,
  verdict,
  printed,
  isDiskFull,
  limits,
}: End): Failure | null {
  // What was said in time stands, however the process was swept away afterwards.
  if (verdict?.kind === "finished") return null;
  if (exitCode === INIT_EXIT.leaseLost)
    return { reason: "lease_lost", message: "the lease expired and PID 1 ended the container" };
  // A full disk or memory makes user code raise all kinds of exceptions: the cause is told, with the exception as detail.
  if (isDiskFull)
    return caused(
      "disk_limit",
      `the member used up its disk of ${limits.diskBytes} bytes`,
      verdict,
    );
  if (oomKilled || exitCode === INIT_EXIT.outOfMemory)
    return caused(
      "out_of_memory",
      `a process was killed at the limit of ${limits.memoryBytes} bytes`,
      verdict,
    );
  if (verdict !== null) {
    const { reason, message, detail, site } = verdict;
    return {
      reason,
      message,
      ...(detail === undefined ? {} : { detail }),
      ...(site === undefined ? {} : { site }),
    };
  }
  if (exitCode === EXIT.done) return null;
  if (ENDED_FROM_OUTSIDE.includes(exitCode))
    return {
      reason: "container_failed",
      message: `the container was ended from outside (exit code ${exitCode})`,
    };
  return {
    reason: "payload_exited",
    message: `the payload ended with exit code ${exitCode}${lastWord(printed)}`,
    ...(printed === null ? {} : { detail: printed }),
  };
}

/** The cause, of most programs that end by themselves: whoever sees a message alone is to see it. */
function lastWord(printed: string | null): string {
  const last = printed
    ?.split("\n")
    .findLast((line) => line.trim() !== "")
    ?.trim();
  return last === undefined ? "" : `: ${last.slice(0, MAX_LAST_WORD_CHARS)}`;
}

function caused(reason: AgentReason, message: string, verdict: Verdict | null): Failure {
  if (verdict?.kind !== "failed") return { reason, message };
  return { reason, message, detail: verdict.detail ?? verdict.message };
}
