export type BeatFacts = { loopLagMs: number; diskFreeBytes: number; hasDisk: boolean };

/** Late by more than this, an agent has trouble; KERNEL "Leases" takes the same for our own loop. */
const LATE_MS = 1_000;
/** A sixteenth of the disk's free room more or less: what staging and logs of a second move is none. */
const DISK_SHARE = 1 / 16;

/** Whether a beat differs from the last that was told by more than noise. Most do not, and of a thousand nodes two hundred beats come in a second. */
export function isNews(told: BeatFacts | null, beat: BeatFacts): boolean {
  if (told === null) return true;
  return (
    told.hasDisk !== beat.hasDisk ||
    told.loopLagMs > LATE_MS !== beat.loopLagMs > LATE_MS ||
    Math.abs(beat.diskFreeBytes - told.diskFreeBytes) > told.diskFreeBytes * DISK_SHARE
  );
}
