/** Where a new attempt of a training of several ranks begins. Pure. */
import type { CommittedRound, ResumePoint } from "../../kernel/workload.ts";

/** After the newest committed step; null: from the beginning. The script alone knows how many are left. */
export function chooseResumeStep(committed: readonly CommittedRound[]): ResumePoint | null {
  const newest = committed.reduce<CommittedRound | null>(
    (best, one) => (best === null || one.round > best.round ? one : best),
    null,
  );
  return newest === null
    ? null
    : { startRound: newest.round + 1, roundsLeft: 1, modelUpload: newest.modelUpload };
}
