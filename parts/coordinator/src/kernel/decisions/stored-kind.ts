/**
 * How the row of a job names its kind. A job whose members hold several workers has a name of its own there: a release that does not know of that leaves
 * such a job alone, after a rollback too, and would else run it on the first of its workers. Pure.
 */
const SEVERAL = "-several";

export function storedKind(kind: string, workersEach: number): string {
  return workersEach === 1 ? kind : `${kind}${SEVERAL}`;
}

/** @returns the kind as its submission said it */
export function shownKind(stored: string): string {
  return stored.endsWith(SEVERAL) ? stored.slice(0, -SEVERAL.length) : stored;
}

/** @returns all names that rows have for the kind */
export function storedKindsOf(kind: string): string[] {
  return [kind, `${kind}${SEVERAL}`];
}
