/** Why a job is held that has no room in its array. */
export function waitsForArray(atOnce: number): string {
  return `waits for room in its array, of which at most ${atOnce} ${atOnce === 1 ? "job is" : "jobs are"} queued or run at once`;
}
