const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** How long to wait before the next try, with a random part so that many tabs don't come at once. @param random from 0 to 1 */
export function backOffMs(failures: number, random: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  return longest / 2 + (longest / 2) * random;
}
