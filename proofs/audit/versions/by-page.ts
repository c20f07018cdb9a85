/** The shipped page in Debian's chromium, opened from disk with the network off. */
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import type { Case } from "./cases.ts";

export type ByPage = {
  version: string;
  judge: (one: Case) => Promise<{ report: Record<string, unknown>; entriesPerSecond: number }>;
  end: () => Promise<void>;
};

export async function openVerifierPage(html: string): Promise<ByPage> {
  // Chromium's own sandbox does not start for root; what is judged here is no page of a stranger.
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  return {
    version: browser.version(),
    judge: async ({ file, policy, known }) => {
      await page.goto(pathToFileURL(html).href);
      await page.setInputFiles("#export", file);
      if (policy !== null) await page.setInputFiles("#policy", policy);
      if (known !== null) await page.setInputFiles("#known", known);
      await page.click("#start");
      await page.waitForSelector("#json", { state: "attached", timeout: 300_000 });
      const [, rate = "0"] = /(\d+) a second/.exec((await page.textContent("#status")) ?? "") ?? [];
      return {
        report: JSON.parse(await page.inputValue("#json")) as Record<string, unknown>,
        entriesPerSecond: Number(rate),
      };
    },
    end: () => browser.close(),
  };
}
