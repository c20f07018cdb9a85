/** How long something lasts or is over, in the words of a list. Pure. */
const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** @param from an instant as the appliance writes it @param now Unix milliseconds @returns `14 min`, in the largest unit that fits */
export function age(from: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(from)) / 1_000));
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? UNITS[3];
  return `${Math.floor(seconds / size)} ${unit}`;
}
