/**
 * What is recorded: a log is made, with the ceremony broken off now and then, and written through many lives of auditd, some killed under load,
 * some in the middle of taking the log up, some stopped in good order.
 */
import type { AuditdProcess } from "./auditd-process.ts";
import type { Coordinator } from "./coordinator.ts";
import type { Mark } from "./promises.ts";
import type { Kill, Recorder } from "./recorder.ts";

/** Killed, wherever it is then, or stopped in good order after so many rows. */
export type Life = { kill: Kill } | { rows: number };

const KILL_SEEN_LIMIT_MS = 5_000;

/** A ceremony that is broken off again and again, then one that ends. */
export async function recordInit(
  auditd: AuditdProcess,
  recorder: Recorder,
  brokenOff: readonly Kill[],
): Promise<void> {
  for (const kill of brokenOff) await auditd.init(recorder.environment(kill)).catch(() => {});
  await auditd.init(recorder.environment(null));
  recorder.mark({ initialized: true } satisfies Mark);
}

export async function recordLife(
  auditd: AuditdProcess,
  recorder: Recorder,
  coordinator: Coordinator,
  life: Life,
): Promise<void> {
  const kill = "kill" in life ? life.kill : null;
  const ended = new AbortController();
  try {
    await auditd.start(recorder.environment(kill));
    auditd.ended().then(() => ended.abort());
    await coordinator.write("rows" in life ? life.rows : Number.POSITIVE_INFINITY, ended.signal);
  } catch (error) {
    // The connection may break before the process is seen to have ended.
    if (kill === null || !(await auditd.hasEnded(KILL_SEEN_LIMIT_MS))) throw error;
  }
  await auditd.stop("SIGTERM");
}
