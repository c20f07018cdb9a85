/** The built page, opened from disk in Debian's chromium with the network off; it tells of every request and of every breach of its policy. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { HEADLESS_CHROMIUM } from "@resontech/house/headless-chromium";
import type { Test } from "tap";
import { verifierPage } from "../../build/verifier-page.ts";
import type { Verdict } from "../../src/verdicts.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";

export const HTML = await verifierPage();

export type Chosen = {
  export: Buffer;
  policy?: Buffer;
  known?: Buffer[];
  release?: Buffer[];
  nonce?: string;
  downtime?: string;
  sample?: string;
  filter?: string;
};

export class OpenedPage {
  readonly page: Page;
  readonly folder: string;
  readonly requests: string[] = [];
  readonly errors: string[] = [];

  constructor(page: Page, folder: string) {
    this.page = page;
    this.folder = folder;
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("pageerror", (error) => this.errors.push(error.message));
  }

  async choose(chosen: Chosen): Promise<void> {
    const { page } = this;
    const setFiles = async (name: string, contents: Buffer[]): Promise<void> => {
      const files = contents.map((content, at) => {
        const file = join(this.folder, `${name}-${at}`);
        writeFileSync(file, content);
        return file;
      });
      await page.setInputFiles(`#${name}`, files);
    };
    await setFiles("export", [chosen.export]);
    if (chosen.policy !== undefined) await setFiles("policy", [chosen.policy]);
    if (chosen.known !== undefined) await setFiles("known", chosen.known);
    if (chosen.release !== undefined) await setFiles("release", chosen.release);
    if (chosen.downtime !== undefined || chosen.sample !== undefined) await page.click("summary");
    if (chosen.downtime !== undefined) await setFiles("downtime", [Buffer.from(chosen.downtime)]);
    for (const name of ["nonce", "sample", "filter"] as const)
      if (chosen[name] !== undefined) await page.fill(`#${name}`, chosen[name]);
  }

  /** The report as the page would save it. */
  async check(
    chosen: Chosen,
  ): Promise<Record<string, unknown> & { verdicts: Record<string, Verdict>; exitCode: number }> {
    await this.choose(chosen);
    await this.page.click("#start");
    await this.page.waitForSelector("#json", { state: "attached" });
    return JSON.parse(await this.page.inputValue("#json"));
  }

  async text(selector: string): Promise<string> {
    return (await this.page.textContent(selector)) ?? "";
  }
}

/** One browser for the tests of a file. */
export async function startedBrowser(t: Test): Promise<Browser> {
  // Chromium's own sandbox does not start for root; what is tested is the page's policy.
  const browser = await chromium.launch({
    executablePath: HEADLESS_CHROMIUM,
    args: ["--no-sandbox"],
  });
  t.teardown(() => browser.close());
  return browser;
}

/** `change`: of the file, as somebody who hands it on could make it. */
export async function openPage(
  t: Test,
  browser: Browser,
  {
    change = (html) => html,
    isOffline = true,
  }: { change?: (html: string) => string; isOffline?: boolean } = {},
): Promise<OpenedPage> {
  const folder = temporaryFolder(t);
  const file = join(folder, "sov-verify.html");
  writeFileSync(file, change(HTML));
  const context = await browser.newContext({ offline: isOffline, acceptDownloads: true });
  t.teardown(() => context.close());
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.addInitScript(`globalThis.breaches = [];
    addEventListener("securitypolicyviolation", ({ effectiveDirective }) => breaches.push(effectiveDirective));`);
  const opened = new OpenedPage(page, folder);
  await page.goto(pathToFileURL(file).href);
  return opened;
}
