/** In which order files run, and which may run beside which. */
import type { Tier } from "./tier.ts";

export type RecordedCost = { cpuSeconds: number; wallSeconds: number };

export type Waiting = {
  file: string;
  tier: Tier;
  /** When it last ran; null: never. */
  cost: RecordedCost | null;
  /** Of its files one is dear: {@link isHeavy}. */
  isHeavy: boolean;
  /** It changes what others of its tier use: none of them runs beside it. */
  isAlone: boolean;
  /** It asks the pool for a Keycloak. */
  leases: boolean;
};

export type Room = {
  /** How many run at most. */
  jobs: number;
  /** How many of a tier run at most. */
  ofTier: Readonly<Record<Tier, number>>;
  /** So many run whatever they keep busy: one for each processor, or one that waits at times leaves it idle. */
  always: number;
  /** How many processors they may keep busy together, beyond those that always run. */
  processors: number;
  /** How many Keycloaks the pool has: a file that waits for one would hold a place, and its own limit would run. */
  keycloaks: number;
};

/** Two of these at once keep two processors busy: a third only makes all of them late. */
const HEAVY_SECONDS = 15;
const MAX_HEAVY = 2;
/** Of a file that nobody has seen run. */
const UNKNOWN_LOAD = 0.5;

/**
 * What only decides first, for it tells the most in a minute. Then files of the installed appliance, for most of them wait for one another; of a tier those that run alone last. Then the longest, so that
 * none of them is the last to end.
 */
export function inOrder<T extends Waiting>(files: readonly T[]): T[] {
  return files.toSorted(
    (a, b) =>
      Number(b.tier === "unit") - Number(a.tier === "unit") ||
      Number(b.tier === "acceptance") - Number(a.tier === "acceptance") ||
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
  { jobs, ofTier, always, processors, keycloaks }: Room,
): T | null {
  if (running.length >= jobs) return null;
  const load = running.reduce((sum, file) => sum + loadOf(file), 0);
  const isFull = running.filter((file) => file.isHeavy).length >= MAX_HEAVY;
  const areLent = running.filter(({ leases }) => leases).length >= keycloaks;
  return (
    waiting.find(
      (file) =>
        isAdmitted(file, running, ofTier[file.tier]) &&
        !(isFull && file.isHeavy) &&
        !(areLent && file.leases) &&
        (running.length < always || load + loadOf(file) <= processors),
    ) ?? null
  );
}

/** Whether those of its own tier let it run. */
function isAdmitted({ tier, isAlone }: Waiting, running: readonly Waiting[], most: number) {
  const peers = running.filter((each) => each.tier === tier);
  return isAlone ? peers.length === 0 : peers.length < most && !peers.some((peer) => peer.isAlone);
}

/** How many processors a file keeps busy, on average. */
function loadOf({ cost }: Waiting): number {
  return cost === null || cost.wallSeconds === 0
    ? UNKNOWN_LOAD
    : cost.cpuSeconds / cost.wallSeconds;
}

/** @param cost null: nobody has seen it run */
export function isHeavy(cost: RecordedCost | null): boolean {
  return cost !== null && cost.cpuSeconds >= HEAVY_SECONDS;
}
