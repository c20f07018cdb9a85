import type { Page } from "playwright-core";

const TRIES = 5;

/** Opens an address. Chromium gives up what is under way when the machine gets a network interface more, as each container brings one. */
export async function visit(
  page: Page,
  url: string,
  options: { waitUntil?: "load" | "networkidle" } = {},
): Promise<void> {
  for (let tried = 1; ; tried += 1)
    try {
      await page.goto(url, options);
      return;
    } catch (error) {
      if (tried === TRIES || !String(error).includes("ERR_NETWORK_CHANGED")) throw error;
      await page.waitForTimeout(500);
    }
}
