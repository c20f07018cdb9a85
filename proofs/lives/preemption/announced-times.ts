/** How far ahead a scene announces, and what fits before that. A job that states a time ends five minutes before, one that states none an hour. */

/** Room for a short job, none for one without a limit. */
export const AHEAD_MS = 30 * 60_000;
export const STAYS_MS = 30 * 60_000;
export const SHORT_MIN = 10;
/** Runs into what is announced. */
export const LONG_MIN = 60;
