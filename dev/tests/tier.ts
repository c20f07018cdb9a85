/**
 * The tiers of the tests, cheapest first. A test stands in the lowest one that can fail; its file name says which:
 * `x.test.ts` is pure, `x.engines.test.ts` starts processes or engines, `x.browser.test.ts` a browser, `acceptance/` uses the installed appliance.
 */
export const TIERS = ["unit", "engines", "browser", "acceptance"] as const;
export type Tier = (typeof TIERS)[number];

export function isTier(text: string): text is Tier {
  return TIERS.some((tier) => tier === text);
}

/** @param file its path in this tree, with forward slashes */
export function tierOf(file: string): Tier {
  if (file.startsWith("acceptance/")) return "acceptance";
  if (file.endsWith(".engines.test.ts")) return "engines";
  if (file.endsWith(".browser.test.ts")) return "browser";
  return "unit";
}
