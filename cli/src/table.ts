/**
 * Rows for a terminal, nothing of them cut: a name that is cut names something else, and an id that is cut can't be copied. Where a table
 * does not fit, its cells wrap at blanks; where that does not help, each row is shown as lines of a name and a value, as `psql` does.
 */

import { printable } from "./printable.ts";

/** A row of more lines is no row any more. */
const MOST_LINES = 4;
const GAP = "  ";
/** Of a value that is wrapped where it stands alone: a narrower one is left to the terminal. */
const LEAST_VALUE = 20;

/** @param columns of the terminal; null where there is none: then each row is one line */
export function asTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string {
  const cells = [head, ...rows].map((row) => row.map(visible));
  const full = head.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const room =
    columns === null ? Number.POSITIVE_INFINITY : columns - GAP.length * (head.length - 1);
  // The first column names its row for the next command: in one line.
  const least = head.map((_, at) =>
    at === 0 ? full[0]! : Math.max(...cells.map((row) => longestWord(row[at]!))),
  );
  const widths = fitted(full, least, room);
  const wrapped = cells.map((row) => row.map((cell, at) => wrap(cell, widths[at]!)));
  const isNarrow =
    total(widths) > room || wrapped.some((row) => row.some((lines) => lines.length > MOST_LINES));
  return isNarrow
    ? asRecords(cells, columns ?? 0)
    : wrapped.map((row) => linesOf(row, widths)).join("");
}

function linesOf(row: readonly string[][], widths: readonly number[]): string {
  const height = Math.max(...row.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => {
    const text = row.map((lines, at) => (lines[line] ?? "").padEnd(widths[at]!)).join(GAP);
    return `${text.trimEnd()}\n`;
  }).join("");
}

function asRecords([head = [], ...rows]: readonly string[][], columns: number): string {
  const width = Math.max(...head.map((name) => name.length));
  const room = Math.max(LEAST_VALUE, columns - width - GAP.length);
  const record = (row: readonly string[]): string =>
    head.map((name, at) => linesOf([[name], wrap(row[at]!, room)], [width, 0])).join("");
  return rows.map(record).join("\n");
}

/** The widest column gives a character at a time, down to its least, until all fit into `room`. */
function fitted(widths: readonly number[], least: readonly number[], room: number): number[] {
  const fit = [...widths];
  for (let sum = total(fit); sum > room; sum -= 1) {
    const spare = fit.map((width, at) => (width > least[at]! ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    fit[spare.indexOf(widest)]! -= 1;
  }
  return fit;
}

function total(widths: readonly number[]): number {
  return widths.reduce((a, b) => a + b, 0);
}

/** Lines of at most `width` characters, but for a longer word, which is a line whole. */
function wrap(cell: string, width: number): string[] {
  const lines = [""];
  for (const word of cell.split(" ")) {
    const last = lines.at(-1)!;
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function longestWord(cell: string): number {
  return Math.max(...cell.split(" ").map((word) => word.length));
}

/** Nothing that comes from outside moves the cursor or turns the line round. */
function visible(text: string): string {
  return printable(text).replaceAll(
    /[\t\n]/g,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
