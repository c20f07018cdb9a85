/** Which files share a process. */
import { roomOf } from "./room-of.ts";
import { isHeavy, type RecordedCost } from "./schedule.ts";
import type { Tier } from "./tier.ts";

export type Grouped = {
  tier: Tier;
  files: readonly string[];
  /** File → what it cost when it last ran. */
  recorded: ReadonlyMap<string, RecordedCost>;
  /** Files that ask the pool for a Keycloak: those that run at once are counted. */
  leasing: ReadonlySet<string>;
  /** Rooms whose files of engines share processes. */
  sharing: ReadonlySet<string>;
};

/** Rooms of which every file of engines leaves its process as it was. A token of SoftHSM, as in the vault's, can be opened once in a process. */
export const SHARING: ReadonlySet<string> = new Set([
  ...["appliance", "audit", "backup", "cli", "frame"],
  ...["parts/coordinator", "parts/inference-gateway", "parts/s3-front"],
]);

/** Seconds of a group in one process: a longer one is the last to end, and what its files share is saved by then. */
const GROUP_SECONDS = 90;
/** Of a file that nobody has seen run. */
const UNKNOWN_SECONDS = 5;

/** Unit files of a room share one process. Of engines those of some rooms do, a dear file and one that leases excepted. Each other file has one of its own. */
export function groupFiles({ tier, files, recorded, leasing, sharing }: Grouped): string[][] {
  if (tier === "unit") return [...Map.groupBy(files, roomOf).values()];
  const isOwn = (file: string): boolean =>
    tier !== "engines" ||
    !sharing.has(roomOf(file)) ||
    leasing.has(file) ||
    isHeavy(recorded.get(file) ?? null);
  const secondsOf = (file: string): number => recorded.get(file)?.wallSeconds ?? UNKNOWN_SECONDS;
  const shared = Map.groupBy(
    files.filter((file) => !isOwn(file)),
    roomOf,
  );
  return [
    ...files.filter(isOwn).map((file) => [file]),
    ...[...shared.values()].flatMap((ofRoom) => inPieces(ofRoom, secondsOf)),
  ];
}

/** As many pieces as their seconds ask for, each about as long. */
function inPieces(files: readonly string[], secondsOf: (file: string) => number): string[][] {
  const seconds = files.reduce((sum, file) => sum + secondsOf(file), 0);
  const pieces = Array.from({ length: Math.ceil(seconds / GROUP_SECONDS) }, () => ({
    files: [] as string[],
    seconds: 0,
  }));
  for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const shortest = pieces.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    shortest.files.push(file);
    shortest.seconds += secondsOf(file);
  }
  return pieces.map((piece) => piece.files.toSorted());
}
