/**
 * Whoever reads what we print may leave before the end, as `head` does. That is no failure, and no stack trace.
 * @param then what is done about it: to leave, where nothing but printing is under way, or nothing
 */
export function onClosedPipe(then: () => void): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    then();
  });
}
