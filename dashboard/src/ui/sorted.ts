/** Rows of a table in the order that a person chose. Pure. */
export type SortKey = string | number | null;
export type Order = { title: string; isDown: boolean };

/** A head that is pressed again turns round, and the third time the rows stand as they came. */
export function nextOrder(order: Order | null, title: string): Order | null {
  if (order?.title !== title) return { title, isDown: false };
  return order.isDown ? null : { title, isDown: true };
}

const WORDS = new Intl.Collator([], { numeric: true });

/** Rows that have nothing to be ordered by stand last, whichever way. Those alike keep their order. */
export function sorted<Row>(
  rows: readonly Row[],
  by: (row: Row) => SortKey,
  isDown: boolean,
): Row[] {
  return rows.toSorted((a, b) => {
    const [left, right] = [by(a), by(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    const way = isDown ? -1 : 1;
    return typeof left === "number" && typeof right === "number"
      ? way * (left - right)
      : way * WORDS.compare(String(left), String(right));
  });
}
