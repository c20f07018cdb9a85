/** What to do about a job that failed, as its page says it. Pure. */

/** The API's field `detail` is the text below the hint. */
export function errorHint(hint: string): string {
  return hint
    .replace("state estimatedMemoryMb", "ask for more memory")
    .replace(/ in `detail`/g, " below")
    .replace(/`detail` /g, "the text below ");
}
