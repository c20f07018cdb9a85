/** Rows for a terminal: columns as wide as their longest cell; where they don't fit, the widest are cut, and none is lost. */

/** A column keeps so many characters, or its head, whatever else must fit. */
const LEAST = 4;
const GAP = "  ";

/** @param columns of the terminal; null where there is none: then nothing is cut */
export function asTable(head: readonly string[], rows: readonly (readonly string[])[], columns: number | null): string {
  const cells = [head, ...rows].map((row) => row.map(visible));
  const full = head.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const widths = fitted(
    full,
    // The first column names its row for the next command: whole.
    head.map((name, at) => (at === 0 ? full[0]! : Math.max(LEAST, name.length))),
    columns === null ? Number.POSITIVE_INFINITY : columns - GAP.length * (head.length - 1),
  );
  return cells
    .map((row) => {
      const line = row.map((cell, at) => cut(cell, widths[at]!).padEnd(widths[at]!)).join(GAP);
      return `${line.trimEnd()}\n`;
    })
    .join("");
}

/** The widest column gives a character at a time, down to its least, until all fit into `room`. */
function fitted(widths: readonly number[], least: readonly number[], room: number): number[] {
  const fit = [...widths];
  for (let sum = fit.reduce((a, b) => a + b, 0); sum > room; sum -= 1) {
    const spare = fit.map((width, at) => (width > least[at]! ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    fit[spare.indexOf(widest)]! -= 1;
  }
  return fit;
}

function cut(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, Math.max(0, width - 1))}…` : cell;
}

/** Nothing that comes from outside moves the cursor or turns the line round. */
function visible(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
