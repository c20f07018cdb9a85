/** How far the rounds of a job are, in words that page and shell share: counted, for workflows number theirs from 0 or from 1. Pure. */
export function roundWords({ done, total }: { done: number; total: number | null }): string {
  return `${done}${total === null ? "" : ` of ${total}`} done`;
}
