import type { InShortage } from "@resontech/frame/define-part";

/** As /proc/PID/oom_score_adj has it. */
export const OOM_SCORES: Readonly<Record<InShortage, number>> = {
  last: -500,
  middle: 0,
  first: 300,
};
