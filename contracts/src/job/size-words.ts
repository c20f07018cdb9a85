/** Sizes in messages of the appliance, as pages and shell tell them. Pure. */

/** A smaller count is told exactly. */
const MANY_BYTES = /\b(\d{5,}) bytes\b/g;

/** A message with its large counts of bytes in larger units. @param size writes one */
export function withSizes(message: string, size: (bytes: number) => string): string {
  return message.replace(MANY_BYTES, (_, count: string) => size(Number(count)));
}

/** A request for a second person's answer in one line: of all that is asked for, a quota alone has bytes in it. */
export function summaryWords(summary: string): string {
  return withSizes(summary, quotaWords);
}

/** What a bucket may hold, in the unit in which room is asked for: `750 GB`. */
export function quotaWords(bytes: number): string {
  return `${(bytes / 1e9).toLocaleString("en", { maximumFractionDigits: 3 })} GB`;
}
