/** The shipped page in Debian's chromium, opened from disk with the network off. */
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import type { Case } from "./cases.ts";

type Report = Record<string, unknown>;

export type ByPage = {
  version: string;
  judge: (one: Case) => Promise<{ report: Report | null; entriesPerSecond: number }>;
  end: () => Promise<void>;
};

export async function openVerifierPage(html: string): Promise<ByPage> {
  // Chromium's own sandbox does not start for root; what is judged here is no page of a stranger.
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  return {
    version: browser.version(),
    judge: async ({ file, policy, known, releases }) => {
      await page.goto(pathToFileURL(html).href);
      await page.setInputFiles("#export", file);
      if (policy !== null) await page.setInputFiles("#policy", policy);
      if (known !== null) await page.setInputFiles("#known", known);
      await page.setInputFiles("#release", releases);
      await page.click("#start");
      // An input that can't be used is said beside its field, and there is no report.
      await page.waitForSelector("#json, [aria-invalid=true]", {
        state: "attached",
        timeout: 300_000,
      });
      const [, rate = "0"] = /(\d+) a second/.exec((await page.textContent("#status")) ?? "") ?? [];
      return {
        report:
          (await page.locator("#json").count()) === 0
            ? null
            : (JSON.parse(await page.inputValue("#json")) as Report),
        entriesPerSecond: Number(rate),
      };
    },
    end: () => browser.close(),
  };
}
