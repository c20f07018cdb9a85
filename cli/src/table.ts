/** Rows for a terminal: columns as wide as their longest cell, the last one cut where the line ends. */

/** @param columns of the terminal; null where there is none: then nothing is cut */
export function asTable(head: readonly string[], rows: readonly (readonly string[])[], columns: number | null): string {
  const cells = [head, ...rows].map((row) => row.map(visible));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  return cells
    .map((row) => {
      const line = row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join("  ");
      return `${columns !== null && line.length > columns ? `${line.slice(0, Math.max(0, columns - 1))}…` : line}\n`;
    })
    .join("");
}

/** Nothing that comes from outside moves the cursor or turns the line round. */
function visible(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
