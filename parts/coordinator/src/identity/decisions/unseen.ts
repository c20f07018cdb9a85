/** People of whom nobody tells whether they are still there: those of a broker. Their keys and key pairs stop so long after the last sign-in. */
export const UNSEEN_MS = 7 * 86_400_000;
