import { lazy } from "react";
import { type Column, Table } from "../../ui/table.tsx";
import type { Line } from "../../ui/chart/aligned-of.ts";
import styles from "./job-page.module.css";

const Chart = lazy(async () => ({ default: (await import("../../ui/chart/chart.tsx")).Chart }));

/** A chart of lines, and a table that says the same in figures. */
export function CurveFigure({
  title,
  of,
  lines,
}: {
  title: string;
  /** What a line is of, as the table's first column names it. */
  of: string;
  lines: readonly Line[];
}) {
  return (
    <figure className={styles["chart"]}>
      <figcaption>{title}</figcaption>
      <Chart title={title} lines={lines} />
      <details>
        <summary>Last values</summary>
        <Table
          caption={title}
          columns={[{ title: of, of: ({ label }) => label }, ...FIGURES]}
          rows={lines}
          keyOf={({ label }) => label}
        />
      </details>
    </figure>
  );
}

const FIGURES: Column<Line>[] = [
  { title: "At", of: ({ points }) => points.at(-1)?.[0] ?? "", isNumber: true },
  { title: "Last", of: ({ points }) => points.at(-1)?.[1] ?? "", isNumber: true },
  {
    title: "Least",
    of: ({ points }) => Math.min(...points.map(([, , least]) => least)),
    isNumber: true,
  },
  {
    title: "Greatest",
    of: ({ points }) => Math.max(...points.map(([, , , most]) => most)),
    isNumber: true,
  },
];
