/** The coordinator refused, or the object store for good; branch on `code`, never on the text. */
export class RefusedError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Refusals that pass by themselves: something behind the coordinator is away, or this node is about to register again. */
const PASSING: readonly string[] = [
  "stale_epoch",
  "audit_unavailable",
  "database_unavailable",
  "storage_unavailable",
  "too_many_requests",
  "internal_error",
];

/** Whether asking again may help: no answer at all (the coordinator is away for a moment), or a refusal that passes. */
export function isPassing(error: unknown): boolean {
  return error instanceof RefusedError ? PASSING.includes(error.code) : true;
}

/** Authority over a member was withdrawn: its work stops, and nothing more of it is told or stored. */
export function isStaleFence(error: unknown): boolean {
  return error instanceof RefusedError && error.code === "stale_fence";
}
