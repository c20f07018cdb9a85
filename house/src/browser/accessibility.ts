import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const AXE = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "node_modules", "axe-core", "axe.min.js"),
  "utf8",
);

/**
 * Rules of axe that the page breaks, each with its first element.
 * @param page of a window that is not held to the page's policy: axe is a script of ours that the policy keeps out
 * @param rules that are looked at; without, all
 */
export async function accessibilityFaults(
  page: Page,
  rules?: readonly string[],
): Promise<string[]> {
  await page.addScriptTag({ content: AXE });
  return await page.evaluate(async (runOnly) => {
    type Axe = {
      run: (
        options: object,
      ) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
    };
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run({
      resultTypes: ["violations"],
      ...(runOnly === undefined ? {} : { runOnly }),
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
  }, rules);
}
