/** Where a new attempt of a federated job begins. Pure. */
import type { CommittedRound, ResumePoint } from "../../kernel/workload.ts";

export type ResumeFacts = {
  isResumable: boolean;
  /** As the user's configuration has them; null = it names no rounds. */
  firstRound: number;
  numRounds: number | null;
};

/**
 * The newest committed round that leaves something to do: a workflow can't run no round at all, so after the last one the one before is
 * taken and the last one runs again. Null: from the beginning.
 */
export function chooseResumePoint(
  job: ResumeFacts,
  committed: readonly CommittedRound[],
): ResumePoint | null {
  if (!job.isResumable || job.numRounds === null) return null;
  const end = job.firstRound + job.numRounds;
  const newest = committed
    .filter(({ round }) => round >= job.firstRound && round + 1 < end)
    .reduce<CommittedRound | null>(
      (best, one) => (best === null || one.round > best.round ? one : best),
      null,
    );
  if (newest === null) return null;
  return {
    startRound: newest.round + 1,
    roundsLeft: end - newest.round - 1,
    modelUpload: newest.modelUpload,
  };
}
