/** How many parameters a model has, as people write it. Pure. */

const UNITS: Record<string, number> = { "": 1, k: 1e3, m: 1e6, b: 1e9, t: 1e12 };
/** The largest count whose bytes are still counted exactly. */
const MOST = 1e14;

/** `7b`, `1.3B`, `350m`, `7000000000`; null for what is no such count. */
export function parameterCount(written: string): number | null {
  const [, digits, unit] = /^(\d{1,15}(?:\.\d{1,9})?)([kmbt]?)$/i.exec(written.trim()) ?? [];
  if (digits === undefined || unit === undefined) return null;
  const count = Number(digits) * UNITS[unit.toLowerCase()]!;
  const whole = Math.round(count);
  // Half a parameter is none; a fraction that a unit makes whole is meant.
  return Math.abs(count - whole) > 1e-3 || whole < 1 || whole > MOST ? null : whole;
}
