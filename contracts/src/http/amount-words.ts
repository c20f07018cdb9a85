/** Workers by model in words, the first in the alphabet first: `2 cpu, 4 h100`; null where no model is named. Pure. */
export function amountWords(amounts: Readonly<Record<string, number>>): string | null {
  const parts = Object.entries(amounts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([model, count]) => `${count} ${model}`);
  return parts.length === 0 ? null : parts.join(", ");
}
