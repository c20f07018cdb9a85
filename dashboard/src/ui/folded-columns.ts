/** Which columns a narrow window has, and where it shows the others. Pure. */

/**
 * `main`: names the row. `own`: keeps a column of its own. `below`: stands below the name. `details`: the list has details of its own for each row,
 * which tell it. All others are shown when somebody opens the row.
 */
export type NarrowPlace = "main" | "own" | "below" | "details";

/**
 * @property own columns that stay, in their order
 * @property below what stands below the name
 * @property more what an opened row tells: also what may be cut below the name
 */
export type FoldedColumns<C> = { main: C; own: C[]; below: C[]; more: C[] };

/** @returns null for a list that is the same in every window */
export function foldColumns<C extends { narrow?: NarrowPlace }>(
  columns: readonly C[],
): FoldedColumns<C> | null {
  const main = columns.find(({ narrow }) => narrow === "main");
  if (main === undefined) return null;
  return {
    main,
    own: columns.filter(({ narrow }) => narrow === "own"),
    below: columns.filter(({ narrow }) => narrow === "below"),
    more: columns.some(({ narrow }) => narrow === "details")
      ? []
      : columns.filter(({ narrow }) => narrow === undefined || narrow === "below"),
  };
}
