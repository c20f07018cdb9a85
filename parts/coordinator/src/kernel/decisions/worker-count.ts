/** `1 worker`, `2 workers`. */
export function workerCount(count: number): string {
  return count === 1 ? "1 worker" : `${count} workers`;
}
