const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;

/** How long a step in the object store waits that failed so often, in milliseconds: twice as long each time, up to a minute. */
export function retryWaitMs(attempts: number): number {
  return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts);
}
