/** Which rows of a table somebody may see or change: all, or those that match one of a few descriptions. Made by `authorization/`, obeyed by lists. */

/** What tells whose a row is. */
export type RowOwner = { userId?: string; projectId?: string; node?: string };
/** Every named attribute must be equal, and every one in `not` another. */
export type RowMatch = RowOwner & { not?: RowOwner };
export type RowFilter = "all" | readonly RowMatch[];

/** Whether a row is one of the filter's. An attribute that the row lacks equals nothing. */
export function isInFilter(filter: RowFilter, row: RowOwner): boolean {
  if (filter === "all") return true;
  return filter.some((match) =>
    conditionsOf(match).every(({ name, value, isEqual }) => (row[name] === value) === isEqual),
  );
}

/**
 * The filter as a condition of SQL with its values in order.
 * @param columns by attribute; what the table has no column for can't be asked of it
 * @throws TypeError for a filter that names such an attribute: left out it would let more through
 */
export function whereOf(
  filter: RowFilter,
  columns: { readonly [name in keyof RowOwner]?: string },
): { sql: string; values: string[] } {
  if (filter === "all") return { sql: "TRUE", values: [] };
  const values: string[] = [];
  const conditions = filter.map((match) => {
    const terms = conditionsOf(match).map(({ name, value, isEqual }) => {
      const column = columns[name];
      if (column === undefined) throw new TypeError(`the table has no column for ${name}`);
      values.push(value);
      // NULL is another's: `<>` would let it through to nobody.
      return `${column} ${isEqual ? "=" : "IS NOT"} ?`;
    });
    return `(${terms.join(" AND ")})`;
  });
  return { sql: conditions.length === 0 ? "FALSE" : conditions.join(" OR "), values };
}

type Condition = { name: keyof RowOwner; value: string; isEqual: boolean };

/** @throws TypeError for a match without any attribute: it would match every row */
function conditionsOf({ not = {}, ...equal }: RowMatch): Condition[] {
  const conditions = [
    ...namesOf(equal).map(([name, value]) => ({ name, value, isEqual: true })),
    ...namesOf(not).map(([name, value]) => ({ name, value, isEqual: false })),
  ];
  if (conditions.length === 0) throw new TypeError("a row match names no attribute");
  return conditions;
}

function namesOf(owner: RowOwner): [keyof RowOwner, string][] {
  return Object.entries(owner) as [keyof RowOwner, string][];
}
