import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "../api-error.ts";

/** The release's own pages of what to do about an alert. */
export class Runbooks {
  readonly #folder: string | null;

  /** @param folder null: this coordinator has no release beside it */
  constructor(folder: string | null) {
    this.#folder = folder;
  }

  /** @param name of letters, digits and hyphens alone @throws ApiError not_found */
  async read(name: string): Promise<string> {
    const text =
      this.#folder === null
        ? null
        : await readFile(join(this.#folder, `${name}.md`), "utf8").catch(() => null);
    if (text === null) throw new ApiError("not_found", `there is no runbook ${name}`);
    return text;
  }
}
