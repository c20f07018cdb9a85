/** The model that a job left, in words that page and shell share. Pure. */

type Left = { round: number | null; isFinal: boolean; isFinite: boolean | null };

/** @returns one sentence without its end: `round 6, the last that was stored` */
export function modelWords({ round, isFinal, isFinite }: Left): string {
  const whose = round === null ? "" : `round ${round}`;
  const words = isFinal
    ? whose === ""
      ? "the final one"
      : `of ${whose}, the final one`
    : `of ${whose}, the last that was stored before the end`;
  return isFinite === false
    ? `${words}; it holds values that are no numbers (NaN or infinite)`
    : words;
}
