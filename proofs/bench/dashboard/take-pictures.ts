import { join } from "node:path";
import type { Page } from "playwright-core";
import { savePicture } from "./save-picture.ts";
import { visit } from "./visit.ts";
import type { Scene } from "./scene.ts";

const WINDOWS = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 390, height: 844 },
} as const;
const THEMES = ["light", "dark"] as const;
const ROLES = ["platform-admin", "security-officer"] as const;
/** Others see these pages empty. */
const OF_ADMINISTRATORS = new Set([
  "queue",
  "nodes",
  "node",
  "people",
  "approvals",
  "audit",
  "audit-entry",
  "appliance",
]);
const LONGEST = 4_000;

/** @param names of the pages; none: all @param only such as `dark-wide`; none: all @returns how many pictures, and which pages were wider than their window */
export async function takePictures(
  scene: Scene,
  into: string,
  names: readonly string[],
  progress: (line: string) => void,
  only: readonly string[] = [],
): Promise<{ pictures: number; tooWide: string[] }> {
  const tooWide: string[] = [];
  let pictures = 0;
  for (const theme of THEMES)
    for (const [size, window] of Object.entries(WINDOWS))
      for (const roles of [[], ROLES]) {
        if (only.length > 0 && !only.includes(`${theme}-${size}`)) continue;
        const page = await scene.page({ roles, dark: theme === "dark", ...window });
        for (const [name, path] of Object.entries(scene.paths)) {
          const isOfAdministrators = OF_ADMINISTRATORS.has(name);
          // Both see an overview, each another one.
          const both = name === "overview";
          if (!both && isOfAdministrators !== roles.length > 0) continue;
          const called = both && roles.length > 0 ? "overview-of-admin" : name;
          if (names.length > 0 && !names.includes(called)) continue;
          await visit(page, `${scene.url}${path}`, { waitUntil: "networkidle" });
          const file = `${called}-${theme}-${size}`;
          if (await isTooWide(page)) tooWide.push(file);
          const height = await page.evaluate(() => {
            const { document } = globalThis as unknown as {
              document: { documentElement: { scrollHeight: number } };
            };
            return document.documentElement.scrollHeight;
          });
          // What stands beside the page is as high as the window: so the window is as high as the page.
          const isWhole = height > window.height && height <= LONGEST;
          if (isWhole) await page.setViewportSize({ ...window, height });
          await savePicture(page, join(into, `${file}.webp`));
          if (isWhole) await page.setViewportSize(window);
          pictures += 1;
        }
        await page.context().close();
        progress(`${pictures} pictures, ${theme} ${size}`);
      }
  return { pictures, tooWide };
}

async function isTooWide(page: Page): Promise<boolean> {
  return await page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number; clientWidth: number } };
    };
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth > clientWidth;
  });
}
