import { storedKindsOf } from "./decisions/stored-kind.ts";

/** SQL: the row of `jobs` is of the kind, whatever its name there. @param kind a name of this program's own */
export function isOfKind(kind: string): string {
  return `jobs.kind IN (${storedKindsOf(kind)
    .map((name) => `'${name}'`)
    .join(", ")})`;
}
