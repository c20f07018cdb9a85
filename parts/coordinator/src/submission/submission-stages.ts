/** What a submission waits for, one after another: who asks, may they, what the bucket holds, the log, the disk, the kernel. */
export const SUBMISSION_STAGES = [
  "authentication",
  "policy",
  "bucket",
  "audit",
  "disk",
  "commit",
] as const;
export type SubmissionStage = (typeof SUBMISSION_STAGES)[number];

/** Notes the stage that ends now, and begins the next. */
export type StageClock = (stage: SubmissionStage) => void;
/** Whoever keeps how long stages take. */
export type StageTimes = { clock: () => StageClock };
