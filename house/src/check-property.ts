/**
 * A property of fast-check, at two lengths. In `npm test` it is tried with a seed that is always the same, and with one that never is, which a failure
 * names. The proof `properties` runs the same files with {@link LONG} in the environment, and so as often as each property says.
 */
import fc from "fast-check";

export const LONG = "RT_TEST_LONG_PROPERTIES";

/** So often with each of the two seeds. */
const SHORT_RUNS = 400;
const SEED = 20261128;

/** @param runs of the long form. @throws with the seed, and with the smallest case that was found not to hold */
export function checkProperty<Ts>(property: fc.IProperty<Ts>, runs: number): void {
  if (process.env[LONG] !== undefined) return fc.assert(property, { numRuns: runs });
  fc.assert(property, { numRuns: SHORT_RUNS, seed: SEED });
  fc.assert(property, { numRuns: SHORT_RUNS });
}
