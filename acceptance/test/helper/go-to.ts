import type { Page } from "playwright-core";

const TRIES = 5;
const WAIT_MS = 500;

/** Opens an address; jobs make networks on this very host, and then Chromium breaks what is on its way. */
export async function goTo(page: Page, url: string): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await page.goto(url);
      return;
    } catch (error) {
      if (tries === TRIES || !String(error).includes("net::ERR_NETWORK_CHANGED")) throw error;
      await page.waitForTimeout(WAIT_MS);
    }
}
