import { Histogram, type Registry } from "prom-client";
import type { StageClock, SubmissionStage } from "../submission/submission-stages.ts";

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2];
const MS = 1_000;

/** How long each stage of a submission took. A stage that failed counts nothing: the later the stage, the fewer it has. */
export class SubmissionTimes {
  readonly #seconds;

  constructor(registry: Registry) {
    this.#seconds = new Histogram({
      name: "resontech_submission_stage_seconds",
      help: "Time of each stage of a submitted job that came through it: who asks, may they, what the bucket holds, the log, the disk, the kernel.",
      labelNames: ["stage"],
      buckets: SECONDS,
      registers: [registry],
    });
  }

  ended(stage: SubmissionStage, seconds: number): void {
    this.#seconds.observe({ stage }, seconds);
  }

  clock(): StageClock {
    let from = performance.now();
    return (stage) => {
      const now = performance.now();
      this.ended(stage, (now - from) / MS);
      from = now;
    };
  }
}
