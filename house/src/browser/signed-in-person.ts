import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import type { LocalAppliance } from "../installed/local-appliance.ts";
import { timeCode } from "./time-code.ts";

const STEP_MS = 30_000;

/** A person of the installed appliance in front of a browser: signs in, shows the second factor, and keeps what the browser complains of. */
export class SignedInPerson {
  readonly name: string;
  readonly page: Page;
  /** What the console called an error. */
  readonly complaints: string[] = [];
  readonly #base: string;
  #secret: string | null = null;
  /** Of the last code: none is taken twice. */
  #lastStep = 0;

  private constructor(name: string, base: string, page: Page) {
    this.name = name;
    this.page = page;
    this.#base = base;
    page.setDefaultTimeout(120_000);
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(error.message));
  }

  /** With the password that the operator hands over; who is asked for a second factor sets a code up. */
  static async signIn(
    browser: Browser,
    appliance: LocalAppliance,
    name: string,
  ): Promise<SignedInPerson> {
    const { RESON_BASE_URL: base = "" } = appliance.quickstart();
    const { password } = JSON.parse(
      await appliance.command(["user", "password", name, "--json"]),
    ) as { password: string };
    const context: BrowserContext = await browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: { width: 1200, height: 800 },
    });
    const person = new SignedInPerson(name, base, await context.newPage());
    const { page } = person;
    await page.goto(`${base}/`);
    await page.fill("#username", name);
    await page.fill("#password", password);
    await page.click("#kc-login");
    // Nobody may have one of their last five again, and another test may have been this person.
    const own = `a-better-password-${randomUUID()}`;
    await page.fill("#password-new", own);
    await page.fill("#password-confirm", own);
    await page.click("input[type=submit], button[type=submit]");
    const manual = page.locator("#mode-manual");
    await manual.or(page.locator("nav")).first().waitFor();
    if (await manual.isVisible()) await person.#setUpCode();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    return person;
  }

  async #setUpCode(): Promise<void> {
    const { page } = this;
    await page.click("#mode-manual");
    this.#secret = (await page.textContent("#kc-totp-secret-key")) ?? "";
    await page.fill("#totp", await this.#code());
    await page.click("#saveTOTPBtn");
  }

  async #code(): Promise<string> {
    const now = () => Math.floor(Date.now() / STEP_MS);
    const step = Math.max(now(), this.#lastStep + 1);
    // One code ahead is taken, as of a clock that is fast.
    while (now() + 1 < step) await sleep(500);
    this.#lastStep = step;
    return timeCode(this.#secret ?? "", step * STEP_MS);
  }

  /**
   * Does what may ask for the second factor: it is shown, or set up, and the same is done once more with what the page has kept.
   * @param done is there when it is done
   */
  async act(what: () => Promise<void>, done: Locator): Promise<void> {
    await what();
    const [code, manual] = [this.page.locator("#otp"), this.page.locator("#mode-manual")];
    await done.or(code).or(manual).first().waitFor();
    if (await done.isVisible()) return;
    if (await manual.isVisible()) await this.#setUpCode();
    else {
      await code.fill(await this.#code());
      await this.page.click("#kc-login");
    }
    await this.page.getByRole("navigation", { name: "Pages" }).waitFor();
    await what();
    await done.waitFor();
  }

  /** By the navigation, as a person goes. */
  async goTo(title: string): Promise<void> {
    await this.page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: title, exact: true })
      .click();
    await this.page.getByRole("heading", { level: 1 }).waitFor();
  }

  /** By an address, and so by a new load of the page. */
  async open(path: string): Promise<void> {
    await this.page.goto(`${this.#base}/dashboard${path}`);
    await this.page.getByRole("heading", { level: 1 }).waitFor();
  }

  press(name: string | RegExp): Promise<void> {
    return this.page.getByRole("button", { name }).first().click();
  }
}
