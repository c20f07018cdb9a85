const startedAt = Date.now();

/** One line for the person who waits, on standard error. */
export function progress(line: string): void {
  process.stderr.write(
    `[airgap ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s] ${line}\n`,
  );
}
