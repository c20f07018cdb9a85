/** From an action in the page to its picture. */
import type { Page } from "playwright-core";

/**
 * Presses the button and waits until the answer of the API came and two frames were drawn after it.
 * @param asked part of the request's address
 * @returns milliseconds
 */
export async function pressedToPainted(page: Page, button: string, asked: string): Promise<number> {
  return await page.evaluate(
    async ([name, part]) => {
      type Entry = { name: string; startTime: number; responseEnd: number };
      type Clicked = { textContent: string; click: () => void };
      const { document, performance, requestAnimationFrame } = globalThis as unknown as {
        document: { querySelectorAll: (selector: string) => Iterable<Clicked> };
        performance: {
          now: () => number;
          getEntriesByType: (type: string) => Entry[];
          clearResourceTimings: () => void;
        };
        requestAnimationFrame: (frame: () => void) => void;
      };
      const frame = () => new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
      const found = [...document.querySelectorAll("button, a")].find(({ textContent }) =>
        textContent.startsWith(name!),
      );
      if (found === undefined) throw new Error(`no button ${name}`);
      performance.clearResourceTimings();
      const from = performance.now();
      found.click();
      const isThere = () =>
        performance
          .getEntriesByType("resource")
          .some((one) => one.name.includes(part!) && one.startTime >= from && one.responseEnd > 0);
      while (!isThere()) {
        if (performance.now() - from > 20_000) throw new Error(`nothing came of ${part}`);
        await frame();
      }
      await frame();
      await frame();
      return performance.now() - from;
    },
    [button, asked],
  );
}
