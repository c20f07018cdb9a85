/** Outcomes that an entry may have one day, whether or not one has. Pure. */
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";

export function isKnownOutcome(outcome: string): boolean {
  return outcome === "ok" || Object.hasOwn(ERROR_CATALOGUE, outcome);
}
