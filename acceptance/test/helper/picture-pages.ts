import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../../../dev/local-appliance.ts";
import type { Test } from "tap";
import type { Person } from "./person.ts";

const AXE = readFileSync(join(repository, "node_modules", "axe-core", "axe.min.js"), "utf8");
const folder = process.env["RT_IMAGES"] ?? join(repository, ".cache", "pictures");
const WIDTHS = { wide: { width: 1280, height: 800 }, narrow: { width: 360, height: 720 } } as const;

/** In the page: keeps what its policy forbade. */
const WATCH = `globalThis.seenViolations = [];
addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
  seenViolations.push([violatedDirective, blockedURI, sample].join(" ")));`;

/** In the page: what is wrong with it as it stands. */
const LOOK = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) => ({
  axe: violations.map(({ id, nodes }) => id + ": " + (nodes[0]?.html ?? "")),
  policy: seenViolations,
  overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
}))`;

/**
 * Each page in both themes and at two widths: a picture, and no rule of axe, of the policy for content or for Trusted Types is broken.
 * @param pages name of the picture, and where the page is below /dashboard
 */
export async function picturePages(
  t: Test,
  person: Person,
  pages: readonly (readonly [name: string, path: string])[],
): Promise<void> {
  const { page } = person;
  mkdirSync(folder, { recursive: true });
  await page.addInitScript(WATCH);
  for (const [name, path] of pages)
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const [width, size] of Object.entries(WIDTHS)) {
        await page.setViewportSize(size);
        await person.open(path);
        await page.waitForLoadState("networkidle");
        const told = `${name}, ${theme}, ${width}`;
        await page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) });
        // What comes by the debugger is not held to the page's policy.
        await page.evaluate(AXE);
        const found = await page.evaluate(LOOK);
        t.same(found, { axe: [], policy: [], overflow: 0 }, told);
      }
    }
}
