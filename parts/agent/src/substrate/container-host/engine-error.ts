import { SubstrateRefusedError } from "../substrate-errors.ts";

/** The HTTP status that the container engine answered with; 0 when it did not answer. */
export function statusOf(error: unknown): number {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number"
    ? error.statusCode
    : 0;
}

/**
 * Podman reads what other containers and networks change meanwhile, and fails the whole answer when something goes between two of its steps: the
 * process of a container that it is asked about (`read /proc/2760/cgroup: no such process`), or one of all the host's interfaces while it
 * looks for subnets in use (`route ip+net: no such network interface`). The next answer knows.
 */
export function isGoneMeanwhile(error: unknown): boolean {
  const message = String(error);
  const isGone =
    /\/proc\/\d+\/[^ ]*: no such (process|file or directory)/.test(message) ||
    message.includes("no such network interface");
  return statusOf(error) === 500 && isGone;
}

/** What the engine refused in the words of the interface; every other error stays what it is. */
export async function withRefusals<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && statusOf(error) > 0)
      throw new SubstrateRefusedError(error.message, { cause: error });
    throw error;
  }
}
