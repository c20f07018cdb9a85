/** The HTTP status that the container engine answered with; 0 when it did not answer. */
export function statusOf(error: unknown): number {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 0;
}

/**
 * Podman reads the process of a running container when it is asked about it, and fails the whole answer when that process ends between two of
 * its steps: `read /proc/2760/cgroup: no such process`. The next answer knows the end.
 */
export function isEndedMeanwhile(error: unknown): boolean {
  return statusOf(error) === 500 && /\/proc\/\d+\/[^ ]*: no such (process|file or directory)/.test(String(error));
}
