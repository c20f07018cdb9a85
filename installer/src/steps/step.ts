import type { Journal } from "../journal.ts";

export type Step = {
  name: string;
  title: string;
  /** Repeated by a run that finds everything done: the host may have been restarted since. */
  always?: true;
  /** @param journal for what uninstall must know before it is made */
  run: (journal: Journal) => Promise<void>;
};

/** Once it is done, so is the install. */
export const LAST_STEP = "first-boot";
/** From here on the release that ran before does not run any more. */
export const SWITCH_STEP = "switch";
