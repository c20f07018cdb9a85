import type { Page } from "playwright-core";

const OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/**
 * Pixels by which a page is wider than its window; 0 as soon as it fits. A window that was made narrower is drawn anew after a moment: charts and tables
 * hear of their new size from the browser.
 */
export async function pageOverflow(page: Page): Promise<number> {
  await page.waitForFunction(`${OVER} <= 0`, undefined, { timeout: 60_000 }).catch(() => undefined);
  return Math.max(0, Number(await page.evaluate(OVER)));
}
