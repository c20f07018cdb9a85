import { availableParallelism } from "node:os";
import type { ResultOf, Task } from "./tasks.ts";
import { TransferThread } from "./transfer-thread.ts";

/** Two shards at once keep two cores busy; more threads than that starve the jobs. */
const MAX_THREADS = Math.min(4, availableParallelism());
/** Their memory is given back between jobs. */
const IDLE_MS = 10_000;

const threads: TransferThread[] = [];
let idle: NodeJS.Timeout | undefined;

/**
 * Carries a task out on a thread beside this one.
 * @throws what the task throws; the signal's reason, once the thread has let go of files and descriptors
 */
export async function offThread<K extends Task["kind"]>(
  task: Extract<Task, { kind: K }>,
  hooks: Parameters<TransferThread["run"]>[1],
  signal: AbortSignal,
): Promise<ResultOf<K>> {
  clearTimeout(idle);
  try {
    return await leastBusy().run<K>(task, hooks, signal);
  } finally {
    if (threads.every(({ tasks }) => tasks === 0)) idle = setTimeout(closeAll, IDLE_MS).unref();
  }
}

function leastBusy(): TransferThread {
  for (const thread of threads.filter(({ hasEnded }) => hasEnded))
    threads.splice(threads.indexOf(thread), 1);
  const [quietest] = threads.toSorted((a, b) => a.tasks - b.tasks);
  if (quietest !== undefined && (quietest.tasks === 0 || threads.length >= MAX_THREADS))
    return quietest;
  const thread = new TransferThread();
  threads.push(thread);
  return thread;
}

function closeAll(): void {
  for (const thread of threads.splice(0)) void thread.close();
}
