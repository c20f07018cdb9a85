import type { Page } from "playwright-core";

/** Pictures of a page, for whoever looks at a change: in both themes, wide and narrow, into the folder that RT_TEST_SHOTS names. Without it nothing. */
export function shotsOf(page: Page): (name: string) => Promise<void> {
  const folder = process.env["RT_TEST_SHOTS"];
  return async (name) => {
    if (folder === undefined) return;
    const size = page.viewportSize();
    for (const [width, colorScheme] of [
      [1440, "light"],
      [1440, "dark"],
      [390, "light"],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({
        path: `${folder}/${name}-${width}-${colorScheme}.png`,
        fullPage: true,
      });
    }
    await page.emulateMedia({ colorScheme: "light" });
    if (size !== null) await page.setViewportSize(size);
  };
}
