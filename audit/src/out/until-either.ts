/** Waits no longer than until the signal says so. @throws what the promise is rejected with; the signal's reason */
export async function untilEither(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.resolve();
  signal.addEventListener("abort", onAbort);
  try {
    if (!signal.aborted) await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  signal.throwIfAborted();
}
