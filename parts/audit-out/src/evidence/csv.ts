/** One line of CSV (RFC 4180) for people who open it in a spreadsheet: no cell is taken for a formula. */

/** What spreadsheets begin a formula with, also behind what they skip. */
const FORMULA = /^[\s\0]*[=+\-@|%]|^[\t\r\n]/;

export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => (typeof cell === "number" ? String(cell) : quoted(cell))).join(",")}\r\n`;
}

function quoted(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
}
