import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "@resontech/house/local-appliance";
import type { Test } from "tap";
import type { SignedInPerson } from "@resontech/house/signed-in-person";

const AXE = readFileSync(join(repository, "node_modules", "axe-core", "axe.min.js"), "utf8");
/** A picture costs as much as a look; the proof `dashboard-pictures` takes those of the documents. */
const folder = process.env["RT_IMAGES"];
const WIDTHS = { wide: { width: 1280, height: 800 }, narrow: { width: 360, height: 720 } } as const;

/** In the page: keeps what its policy forbade. */
const WATCH = `globalThis.seenViolations = [];
addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
  seenViolations.push([violatedDirective, blockedURI, sample].join(" ")));`;

/** In the page: its size and theme are drawn, and what changes by and by has changed. */
const DRAWN = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.all(document.getAnimations().map(({ effect, finished }) =>
    effect?.getComputedTiming().endTime === Infinity ? null : finished.catch(() => null))))`;

/** In the page: what is wrong with it as it stands. A theme moves nothing: in the dark one contrast alone is looked at again. */
const look = (theme: "light" | "dark"): string =>
  `axe.run({ resultTypes: ["violations"]${theme === "dark" ? ', runOnly: ["color-contrast"]' : ""} }).then(({ violations }) => ({
  axe: violations.map(({ id, nodes }) => id + ": " + (nodes[0]?.html ?? "")),
  policy: seenViolations,
  overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
}))`;

/**
 * Each page in both themes and at two widths: no rule of axe, of the policy for content or for Trusted Types is broken. It is loaded once: what
 * changes with theme and width is its style, and what follows from that. `RT_IMAGES` names a folder for pictures.
 * @param pages name of the picture, and where the page is below /dashboard
 */
export async function picturePages(
  t: Test,
  person: SignedInPerson,
  pages: readonly (readonly [name: string, path: string])[],
): Promise<void> {
  const { page } = person;
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  await page.addInitScript(WATCH);
  for (const [name, path] of pages) {
    await page.setViewportSize(WIDTHS.wide);
    await person.open(path);
    await page.waitForLoadState("networkidle");
    // What comes by the debugger is not held to the page's policy.
    await page.evaluate(AXE);
    for (const [width, size] of Object.entries(WIDTHS)) {
      await page.setViewportSize(size);
      for (const theme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await page.evaluate(DRAWN);
        const told = `${name}, ${theme}, ${width}`;
        if (folder !== undefined)
          await page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) });
        t.same(await page.evaluate(look(theme)), { axe: [], policy: [], overflow: 0 }, told);
      }
    }
  }
}
