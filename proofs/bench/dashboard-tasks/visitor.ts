import type { Locator, Page } from "playwright-core";
import { savePicture } from "../dashboard/save-picture.ts";

/** What a person did, and how long the pages took meanwhile. */
export type Steps = {
  clicks: number;
  fields: number;
  keys: number;
  scrolls: number;
  seconds: number;
};

/**
 * A person at the pages: sees what is visible there, presses it and types, and each of it is counted. It thinks for no time, so its seconds are those
 * of the pages.
 */
export class Visitor {
  readonly page: Page;
  readonly #overview: string;
  #steps: Omit<Steps, "seconds"> = nothingDone();
  #since = 0;

  /** @param overview the address at which each task begins */
  constructor(page: Page, overview: string) {
    this.page = page;
    this.#overview = overview;
  }

  /** Goes to the first page; from there on all is counted. */
  async begin(): Promise<void> {
    await this.page.goto(this.#overview);
    await this.page.getByRole("heading", { level: 1 }).waitFor();
    this.#steps = nothingDone();
    this.#since = performance.now();
  }

  async press(what: Locator): Promise<void> {
    await this.#scrollTo(what);
    await what.click();
    this.#steps.clicks += 1;
  }

  /** A click into the field, and what is typed there. */
  async type(field: Locator, text: string): Promise<void> {
    await this.press(field);
    await field.fill(text);
    this.#steps.fields += 1;
  }

  async key(field: Locator, name: string): Promise<void> {
    await field.press(name);
    this.#steps.keys += 1;
  }

  /** A click that opens the list, and one on what is in it. */
  async choose(list: Locator, label: string): Promise<void> {
    await this.#scrollTo(list);
    await list.selectOption({ label });
    this.#steps.clicks += 2;
  }

  /** Reads what is visible. */
  async read(what: Locator): Promise<string> {
    await this.#scrollTo(what);
    return (await what.innerText()).replaceAll(/\s+/g, " ").trim();
  }

  get steps(): Steps {
    const seconds = Math.round((performance.now() - this.#since) / 10) / 100;
    return { ...this.#steps, seconds };
  }

  /** What stands in the window now, and nothing that one must scroll for. */
  async picture(path: string): Promise<void> {
    await savePicture(this.page, path);
  }

  async #scrollTo(what: Locator): Promise<void> {
    await what.waitFor();
    const box = await what.boundingBox();
    const height = this.page.viewportSize()?.height ?? 0;
    const isInSight =
      box !== null && box.y >= 0 && Math.min(box.y + box.height, box.y + 40) <= height;
    if (isInSight) return;
    await what.scrollIntoViewIfNeeded();
    this.#steps.scrolls += 1;
  }
}

function nothingDone(): Omit<Steps, "seconds"> {
  return { clicks: 0, fields: 0, keys: 0, scrolls: 0 };
}
