/**
 * The room that auditd holds back on the file system of the log, so that running jobs can end, people can sign in and the log can be exported when the
 * disk is nearly full. Sizes in bytes. Used by auditd, the installer's plan and `appliance disk`: all tell of the same limits.
 */

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Unit in which the reserve is given up. */
export const RESERVE_STEP_BYTES = 64 * MIB;
/** auditd's write-ahead segment. */
export const LOG_SEGMENT_BYTES = 16 * MIB;

/**
 * At a customer: this part of the file system, within these bounds, and never more than this part of what was free: new jobs are refused once as much
 * again is left, and the warning comes at twice that.
 */
const RESERVE = { part: 0.05, minBytes: 2 * GIB, maxBytes: 32 * GIB, partOfFree: 0.25 };

export type ReserveState = {
  /** What auditd wants to hold back. */
  wantedBytes: number;
  /** What lies there now: less after some was given up. */
  heldBytes: number;
  segmentBytes: number;
};

/**
 * What an install holds back; decided once, as later the free room is less.
 * @param keyKind `dev`: a trial, which holds back one step
 */
export function reserveOf(
  keyKind: "live" | "dev",
  { totalBytes, freeBytes }: { totalBytes: number; freeBytes: number },
): number {
  if (keyKind === "dev") return RESERVE_STEP_BYTES;
  const byDisk = Math.min(
    Math.max(totalBytes * RESERVE.part, RESERVE.minBytes),
    RESERVE.maxBytes,
    freeBytes * RESERVE.partOfFree,
  );
  return Math.max(1, Math.floor(byDisk / RESERVE_STEP_BYTES)) * RESERVE_STEP_BYTES;
}

/**
 * What the reserve takes at most of a file system on which `othersBytes` must stay free beside it. @param mostBytes without regard to what is free
 */
export function roomForReserve(
  keyKind: "live" | "dev",
  mostBytes: number,
  othersBytes: number,
): number {
  if (keyKind === "dev") return mostBytes;
  const byFree = (othersBytes * RESERVE.partOfFree) / (1 - RESERVE.partOfFree);
  return Math.max(RESERVE_STEP_BYTES, Math.min(mostBytes, Math.ceil(byFree)));
}

/** Answers the free bytes below which new jobs are refused. */
export function refusesBelow({ wantedBytes, heldBytes, segmentBytes }: ReserveState): number {
  return Math.max(0, 2 * Math.max(wantedBytes, 2 * segmentBytes) - heldBytes);
}

/** Answers the free bytes below which the operator is warned: twice of what {@link refusesBelow} answers. */
export function warnsBelow(state: ReserveState): number {
  return 2 * refusesBelow(state);
}
