/** Somebody who follows jobs on the pages, in Chromium, and keeps pictures of what they saw. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { repository } from "@resontech/house/local-appliance";
import type { SignedInPerson } from "@resontech/house/signed-in-person";

const SEEN_MS = 60_000;
const PICTURES = join(repository, ".cache", "pictures");

export class Onlooker {
  readonly #person: SignedInPerson;
  pictures = 0;

  constructor(person: SignedInPerson) {
    this.#person = person;
    person.page.setDefaultTimeout(SEEN_MS);
    mkdirSync(PICTURES, { recursive: true });
  }

  get page(): Page {
    return this.#person.page;
  }

  /** What the browser complained of. */
  get complaints(): readonly string[] {
    return this.#person.complaints;
  }

  async openJob(job: string): Promise<void> {
    await this.#person.open(`/jobs/${job}`);
  }

  async openQueue(): Promise<void> {
    await this.#person.open("/queue");
  }

  /** @returns the whole sentence, once the page has it */
  async sees(words: RegExp): Promise<string> {
    return await textOf(this.page.getByText(words).first());
  }

  /** The row of a table that has these words. @returns its text */
  async seesRow(table: string, words: string): Promise<string> {
    return await textOf(
      this.page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: words }),
    );
  }

  /** What stands beside a term of the page. */
  async seesFact(term: string): Promise<string> {
    const fact = this.page
      .locator("div")
      .filter({ has: this.page.getByRole("term").filter({ hasText: term }) });
    return await textOf(fact.last());
  }

  async picture(name: string): Promise<void> {
    await this.page.screenshot({ path: join(PICTURES, `preemption-${name}.png`), fullPage: true });
    this.pictures += 1;
  }
}

async function textOf(place: Locator): Promise<string> {
  await place.waitFor();
  return (await place.innerText()).replaceAll(/\s+/g, " ");
}
