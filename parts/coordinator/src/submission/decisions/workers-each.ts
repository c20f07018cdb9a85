/** @param spec of any kind of task @returns how many workers each of its members holds that holds any */
export function workersEachOf(spec: object | null): number {
  return ((spec ?? {}) as { workers?: number }).workers ?? 1;
}
