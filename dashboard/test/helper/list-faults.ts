import type { Page } from "playwright-core";

const MOST_LINES = 3;

/** What makes lists hard to read on a phone: one that is wider than its place, and a cell of more than three lines, unless it was opened. */
export async function listFaults(page: Page): Promise<string[]> {
  return await page.evaluate<
    string[]
  >(`[...document.querySelectorAll("[role=group]:has(> table)")].flatMap((list) => {
    const name = list.getAttribute("aria-label");
    const over = list.scrollWidth - list.clientWidth;
    const tall = [...list.querySelectorAll("td:not([colspan])")].flatMap((cell) => {
      const style = getComputedStyle(cell);
      const [top, bottom, line] = [style.paddingTop, style.paddingBottom, style.lineHeight].map(parseFloat);
      const lines = (cell.clientHeight - top - bottom) / line;
      return lines > ${MOST_LINES + 0.5} ? [name + ": " + lines.toFixed(1) + " lines of " + cell.textContent] : [];
    });
    return over > 0 ? [name + ": " + over + " px too wide", ...tall] : tall;
  })`);
}
