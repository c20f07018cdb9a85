import { Fragment, type ReactNode, useState } from "react";
import { Icon } from "./icon/icon.tsx";
import { nextOrder, type Order, sorted, type SortKey } from "./sorted.ts";
import styles from "./table.module.css";

export type Column<Row> = {
  title: string;
  /** What a cell shows. */
  of: (row: Row) => ReactNode;
  isNumber?: boolean;
  /** By what rows are put in order when somebody presses the head. */
  by?: (row: Row) => SortKey;
};

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  below,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** What stands below a row that is open; null for one that is not. */
  below?: (row: Row) => ReactNode;
}) {
  const [order, setOrder] = useState<Order | null>(null);
  const by = columns.find(({ title }) => title === order?.title)?.by;
  const shown = order === null || by === undefined ? rows : sorted(rows, by, order.isDown);
  const cell = (isNumber: boolean | undefined) =>
    isNumber === true ? styles["number"] : undefined;
  return (
    // A table wider than the window is scrolled by keyboard, too.
    <div className={styles["frame"]} tabIndex={0} role="group" aria-label={caption}>
      <table className={styles["table"]}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber, by: sortable }) => {
              const here = order?.title === title ? order : null;
              return (
                <th
                  key={title}
                  scope="col"
                  className={cell(isNumber)}
                  aria-sort={here === null ? undefined : here.isDown ? "descending" : "ascending"}
                >
                  {sortable === undefined ? (
                    title
                  ) : (
                    <button
                      type="button"
                      className={styles["sort"]}
                      onClick={() => setOrder(nextOrder(order, title))}
                    >
                      {title}
                      <Icon name={here === null ? "sort" : here.isDown ? "sort-down" : "sort-up"} />
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const opened = below?.(row) ?? null;
            return (
              <Fragment key={keyOf(row)}>
                <tr>
                  {columns.map(({ title, of, isNumber }) => (
                    <td key={title} className={cell(isNumber)}>
                      {of(row)}
                    </td>
                  ))}
                </tr>
                {opened === null ? null : (
                  <tr className={styles["opened"]}>
                    <td colSpan={columns.length}>{opened}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
