/** In which order files run, and which may run beside which. */

export type RecordedCost = { cpuSeconds: number; wallSeconds: number };

export type Waiting = {
  file: string;
  /** When it last ran; null: never. */
  cost: RecordedCost | null;
  /** It changes what others use: nothing runs beside it. */
  isAlone: boolean;
};

export type Room = {
  /** How many run at most. */
  jobs: number;
  /** How many processors they may keep busy together. */
  processors: number;
};

/** Two of these at once keep two processors busy: a third only makes all of them late. */
export const HEAVY_SECONDS = 15;
const MAX_HEAVY = 2;
/** Of a file that nobody has seen run. */
const UNKNOWN_LOAD = 0.5;

/** The longest first, so that none of them is the last to end; files that run alone at the end. */
export function inOrder<T extends Waiting>(files: readonly T[]): T[] {
  return files.toSorted(
    (a, b) =>
      Number(a.isAlone) - Number(b.isAlone) ||
      (b.cost?.wallSeconds ?? 0) - (a.cost?.wallSeconds ?? 0) ||
      a.file.localeCompare(b.file),
  );
}

/**
 * The next to start; null: wait until one has ended. Many files wait most of their time: what they keep busy together decides, not how many they are.
 * @param waiting in order
 */
export function nextToStart<T extends Waiting>(
  waiting: readonly T[],
  running: readonly T[],
  { jobs, processors }: Room,
): T | null {
  if (running.length >= jobs || running.some(({ isAlone }) => isAlone)) return null;
  const load = running.reduce((sum, file) => sum + loadOf(file), 0);
  const isFull = running.filter(isHeavy).length >= MAX_HEAVY;
  const next = waiting.find(
    (file) =>
      !file.isAlone &&
      !(isFull && isHeavy(file)) &&
      (running.length === 0 || load + loadOf(file) <= processors),
  );
  if (next !== undefined) return next;
  const isOnlyAloneLeft = waiting.every(({ isAlone }) => isAlone);
  return running.length === 0 && isOnlyAloneLeft ? (waiting[0] ?? null) : null;
}

/** How many processors a file keeps busy, on average. */
function loadOf({ cost }: Waiting): number {
  return cost === null || cost.wallSeconds === 0
    ? UNKNOWN_LOAD
    : cost.cpuSeconds / cost.wallSeconds;
}

function isHeavy({ cost }: Waiting): boolean {
  return cost !== null && cost.cpuSeconds >= HEAVY_SECONDS;
}
