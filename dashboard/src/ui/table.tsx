import type { ReactNode } from "react";
import styles from "./table.module.css";

export type Column<Row> = {
  title: string;
  /** What a cell shows. */
  of: (row: Row) => ReactNode;
  isNumber?: boolean;
};

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  const cell = (isNumber: boolean | undefined) =>
    isNumber === true ? styles["number"] : undefined;
  return (
    // A table wider than the window is scrolled by keyboard, too.
    <div className={styles["frame"]} tabIndex={0} role="group" aria-label={caption}>
      <table className={styles["table"]}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" className={cell(isNumber)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, of, isNumber }) => (
                <td key={title} className={cell(isNumber)}>
                  {of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
