/** The HTTP status that the container engine answered with; 0 when it did not answer. */
export function statusOf(error: unknown): number {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 0;
}
