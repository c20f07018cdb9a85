import { Fragment, type ReactNode, useState } from "react";
import { type FoldedColumns, foldColumns, type NarrowPlace } from "./folded-columns.ts";
import { Icon } from "./icon/icon.tsx";
import { nextOrder, type Order, sorted, type SortKey } from "./sorted.ts";
import { useIsNarrow } from "./use-is-narrow.ts";
import styles from "./table.module.css";

export type Column<Row> = {
  title: string;
  /** What a cell shows. */
  of: (row: Row) => ReactNode;
  isNumber?: boolean;
  /** By what rows are put in order when somebody presses the head. */
  by?: (row: Row) => SortKey;
  /** Where a narrow window shows it. A list whose columns have no place is scrolled sideways there. */
  narrow?: NarrowPlace;
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
  const isNarrow = useIsNarrow();
  const [order, setOrder] = useState<Order | null>(null);
  /** Rows of a narrow window that show all. */
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const by = columns.find(({ title }) => title === order?.title)?.by;
  const shown = order === null || by === undefined ? rows : sorted(rows, by, order.isDown);
  const folded = isNarrow ? foldColumns(columns) : null;
  const hasMore = folded !== null && folded.more.length > 0;
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  // In their order; what names the row stays where it is.
  const heads =
    folded === null
      ? columns
      : columns.filter((column) => column === folded.main || folded.own.includes(column));
  return (
    // A table wider than the window is scrolled by keyboard, too.
    <div className={styles["frame"]} tabIndex={0} role="group" aria-label={caption}>
      <table className={`${styles["table"]} ${folded === null ? "" : styles["folded"]}`}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {heads.map((column) => (
              <Head key={column.title} of={column} order={order} onOrder={setOrder} />
            ))}
            {hasMore ? (
              <th scope="col" className={styles["more"]}>
                <span className="unseen">More</span>
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const key = keyOf(row);
            const opened = below?.(row) ?? null;
            const isOpen = hasMore && open.has(key);
            const span = heads.length + (hasMore ? 1 : 0);
            return (
              <Fragment key={key}>
                <tr>
                  {heads.map((column) => (
                    <td key={column.title} className={cellClass(column)}>
                      {column === folded?.main ? (
                        <FoldedCell row={row} columns={folded} />
                      ) : (
                        column.of(row)
                      )}
                    </td>
                  ))}
                  {hasMore ? (
                    <td className={styles["more"]}>
                      <button
                        type="button"
                        aria-label="More"
                        aria-expanded={isOpen}
                        className={styles["dots"]}
                        onClick={() => toggle(key)}
                      />
                    </td>
                  ) : null}
                </tr>
                {isOpen ? (
                  <tr className={styles["opened"]}>
                    <td colSpan={span}>
                      <dl className={styles["all"]}>
                        {folded.more.map(({ title, of }) => (
                          <div key={title}>
                            <dt>{title}</dt>
                            <dd>{of(row)}</dd>
                          </div>
                        ))}
                      </dl>
                    </td>
                  </tr>
                ) : null}
                {opened === null ? null : (
                  <tr className={styles["opened"]}>
                    <td colSpan={span}>{opened}</td>
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

function Head<Row>({
  of: { title, isNumber, by },
  order,
  onOrder,
}: {
  of: Column<Row>;
  order: Order | null;
  onOrder: (order: Order | null) => void;
}) {
  const here = order?.title === title ? order : null;
  return (
    <th
      scope="col"
      className={cellClass({ isNumber })}
      aria-sort={here === null ? undefined : here.isDown ? "descending" : "ascending"}
    >
      {by === undefined ? (
        title
      ) : (
        <button
          type="button"
          className={styles["sort"]}
          onClick={() => onOrder(nextOrder(order, title))}
        >
          {title}
          <Icon name={here === null ? "sort" : here.isDown ? "sort-down" : "sort-up"} />
        </button>
      )}
    </th>
  );
}

/** The row's name, and in at most two lines what else is told of it. */
function FoldedCell<Row>({
  row,
  columns: { main, below },
}: {
  row: Row;
  columns: FoldedColumns<Column<Row>>;
}) {
  const facts = below
    .map(({ title, of, isNumber }) => ({ title, value: of(row), isNumber }))
    .filter(({ value }) => value !== null && value !== undefined && value !== "");
  return (
    <>
      <div className={styles["name"]}>{main.of(row)}</div>
      {facts.length === 0 ? null : (
        <div className={styles["facts"]}>
          {facts.map(({ title, value, isNumber }) => (
            <span key={title} className={styles["fact"]}>
              {/* A number says nothing without its name; a word does. */}
              <span className={isNumber === true ? undefined : "unseen"}>{title} </span>
              {value}
            </span>
          ))}
        </div>
      )}
    </>
  );
}

function cellClass({ isNumber }: { isNumber?: boolean | undefined }): string | undefined {
  return isNumber === true ? styles["number"] : undefined;
}
