/** In which order files run, and which may run beside which. */

export type Waiting = {
  file: string;
  /** Seconds of CPU when it was last recorded; null: never. */
  cpuSeconds: number | null;
  /** It changes what others use: nothing runs beside it. */
  isAlone: boolean;
};

/** Two of these keep two processors busy: a third only makes all of them late. */
export const HEAVY_SECONDS = 15;
const MAX_HEAVY = 2;

/** Dearest first, so that none of them is the last to end; files that run alone at the end. */
export function inOrder(files: readonly Waiting[]): Waiting[] {
  return files.toSorted(
    (a, b) =>
      Number(a.isAlone) - Number(b.isAlone) ||
      (b.cpuSeconds ?? 0) - (a.cpuSeconds ?? 0) ||
      a.file.localeCompare(b.file),
  );
}

/**
 * The next to start; null: wait until one has ended.
 * @param waiting in order @param jobs how many run at most
 */
export function nextToStart(
  waiting: readonly Waiting[],
  running: readonly Waiting[],
  jobs: number,
): Waiting | null {
  if (running.length >= jobs || running.some(({ isAlone }) => isAlone)) return null;
  const isFull = running.filter(isHeavy).length >= MAX_HEAVY;
  const next = waiting.find((file) => !file.isAlone && !(isFull && isHeavy(file)));
  if (next !== undefined) return next;
  const isOnlyAloneLeft = waiting.every(({ isAlone }) => isAlone);
  return running.length === 0 && isOnlyAloneLeft ? (waiting[0] ?? null) : null;
}

function isHeavy({ cpuSeconds }: Waiting): boolean {
  return cpuSeconds !== null && cpuSeconds >= HEAVY_SECONDS;
}
