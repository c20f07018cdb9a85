/** RFC 4180, a head line first. A value that a spreadsheet would run as a formula is quoted away. Pure. */
export function csvOf(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  const cell = (value: string | number | null): string => {
    const text = String(value ?? "");
    return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  };
  return [head, ...rows]
    .map((row) => row.map(cell).join(","))
    .concat("")
    .join("\r\n");
}
