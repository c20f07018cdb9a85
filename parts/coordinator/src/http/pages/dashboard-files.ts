/** The dashboard as it was built: one page, and assets whose names hold the digest of what is in them. Read once, at the start. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

export type DashboardFile = { type: string; body: Buffer; brotli: Buffer | null };

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
/** Stands in the page where each answer has a word of its own. */
const NONCE = "__NONCE__";

export class DashboardFiles {
  readonly #page: string;
  readonly #assets: ReadonlyMap<string, DashboardFile>;

  private constructor(page: string, assets: ReadonlyMap<string, DashboardFile>) {
    this.#page = page;
    this.#assets = assets;
  }

  /** @param folder what `dashboard/build` made @throws Error when it is not there */
  static load(folder: string): DashboardFiles {
    const assets = join(folder, "assets");
    const names = readdirSync(assets);
    return new DashboardFiles(
      readFileSync(join(folder, "index.html"), "utf8"),
      new Map(
        names
          .filter((name) => extname(name) !== ".br")
          .map((name) => [
            name,
            {
              type: TYPES[extname(name)] ?? "application/octet-stream",
              body: readFileSync(join(assets, name)),
              brotli: names.includes(`${name}.br`)
                ? readFileSync(join(assets, `${name}.br`))
                : null,
            },
          ]),
      ),
    );
  }

  /** For an appliance without one, as tests of the API have it: a page that says so. */
  static none(): DashboardFiles {
    return new DashboardFiles(
      '<!doctype html><html lang="en"><meta charset="utf-8"><title>ResonTech</title><p>This build has no dashboard.</p></html>',
      new Map(),
    );
  }

  /** The page with a nonce of its own: styles that a script adds must name it. */
  page(): { html: string; nonce: string } {
    const nonce = randomBytes(16).toString("base64url");
    return { html: this.#page.replaceAll(NONCE, nonce), nonce };
  }

  asset(name: string): DashboardFile | null {
    return this.#assets.get(name) ?? null;
  }
}
