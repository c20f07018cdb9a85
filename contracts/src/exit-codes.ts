/** How each command of the product ends: `appliance`, `appliance-node`, `install.sh`, `join-node.sh` and `resontech` alike. */
export const EXIT = {
  done: 0,
  /** The message names a code and what to do. */
  failed: 1,
  /** What was typed can't be meant, however the appliance is: an option or a value that there is not, or two that exclude each other. */
  usage: 2,
  /** The command did its work, and what it looked at is not as it should be: nothing runs, something is wrong or differs, a job did not succeed. */
  notAsWanted: 3,
  /** The host joined as a node, and none of its workers is good. */
  noGoodWorker: 4,
} as const;

export const EXIT_WORDS =
  "0 done, 1 failed, 2 wrong usage, 3 what was looked at is not as it should be";
