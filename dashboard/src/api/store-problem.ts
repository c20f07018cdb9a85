import { Problem } from "./problem.ts";

/** What an answer of the object store means that is no success. @param status null where it did not answer */
export function storeProblem(status: number | null, hint: string): Problem {
  return new Problem({
    code: status === null ? "unreachable" : "storage_refused",
    message:
      status === null
        ? "the object store did not answer"
        : `the object store answered with status ${status}`,
    ...{ hint, status: status ?? 0, requestId: null },
  });
}
