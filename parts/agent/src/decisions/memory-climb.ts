/** Of the limit: so much more than was told last is told at once. A member that fills its memory is so heard of eight times at most. */
const CLIMB = 1 / 8;

/** Whether memory grew so fast that the next beat may come after the member's end. Without a limit nothing ends it. Pure. */
export function isMemoryClimb(
  toldBytes: number,
  nowBytes: number,
  limitBytes: number | undefined,
): boolean {
  return limitBytes !== undefined && nowBytes - toldBytes >= limitBytes * CLIMB;
}
