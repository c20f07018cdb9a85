/** Which rows of a table somebody may see or change: all, or those that match one of a few descriptions. Made by `authorization/`, obeyed by lists. */

/** Every named attribute must be equal. */
export type RowMatch = { userId?: string; projectId?: string; node?: string };
export type RowFilter = "all" | readonly RowMatch[];

/** Whether a row is one of the filter's. An attribute that the row lacks equals nothing. */
export function isInFilter(filter: RowFilter, row: RowMatch): boolean {
  if (filter === "all") return true;
  return filter.some((match) => attributesOf(match).every(([name, value]) => row[name] === value));
}

/**
 * The filter as a condition of SQL with its values in order.
 * @param columns by attribute; what the table has no column for can't be asked of it
 * @throws TypeError for a filter that names such an attribute: left out it would let more through
 */
export function whereOf(
  filter: RowFilter,
  columns: { readonly [name in keyof RowMatch]?: string },
): { sql: string; values: string[] } {
  if (filter === "all") return { sql: "TRUE", values: [] };
  const values: string[] = [];
  const conditions = filter.map((match) => {
    const equals = attributesOf(match).map(([name, value]) => {
      const column = columns[name];
      if (column === undefined) throw new TypeError(`the table has no column for ${name}`);
      values.push(value);
      return `${column} = ?`;
    });
    return `(${equals.join(" AND ")})`;
  });
  return { sql: conditions.length === 0 ? "FALSE" : conditions.join(" OR "), values };
}

/** @throws TypeError for a match without any attribute: it would match every row */
function attributesOf(match: RowMatch): [keyof RowMatch, string][] {
  const attributes = Object.entries(match) as [keyof RowMatch, string][];
  if (attributes.length === 0) throw new TypeError("a row match names no attribute");
  return attributes;
}
