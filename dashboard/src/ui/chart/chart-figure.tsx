import { useLayoutEffect, useState } from "react";
import { At } from "../instant.tsx";
import { timeOfDay } from "../instants.ts";
import { type Column, Table } from "../table.tsx";
import { type Curve, lastOf, type Plot } from "./aligned-of.ts";
import type { Axis, ChartMark } from "./chart.tsx";
import { dashOf, HUES, hueOf } from "./hues.ts";
import { LegendValues } from "./legend-values.ts";
import { LoadedChart } from "./loaded-chart.tsx";
import { inUnit, type Unit } from "./units.ts";
import styles from "./chart.module.css";

/** A chart with its legend, and a table that says the same in figures. */
export function ChartFigure({
  title,
  of,
  plot,
  unit,
  axis,
  axisName,
  marks = [],
}: {
  title: string;
  /** What a curve is of, as the table's first column names it. */
  of: string;
  plot: Plot;
  unit: Unit;
  axis: Axis;
  /** Of what is counted along the axis, such as `round`. */
  axisName?: string;
  marks?: readonly ChartMark[];
}) {
  const [isTable, setTable] = useState(false);
  /** Of many curves one may be looked at alone. */
  const [only, setOnly] = useState<string | null>(null);
  const [values] = useState(() => new LegendValues());
  const sayAt = (place: number) =>
    axis === "time" ? timeOfDay(place * 1_000) : `${axisName ?? ""} ${place}`.trim();
  useLayoutEffect(() => {
    values.set(plot, unit, sayAt);
    values.show(null);
  });
  return (
    <figure className={styles["figure"]}>
      <figcaption className={styles["caption"]}>
        <span>{title}</span>{" "}
        <span ref={(element) => values.holdPlace(element)} className={styles["at"]} />
      </figcaption>
      <LoadedChart
        title={title}
        plot={plot}
        unit={unit}
        axis={axis}
        marks={marks}
        values={values}
        only={only}
      />
      <ul className={styles["legend"]}>
        {plot.curves.map((curve, at) => {
          const hue = hueOf(curve, at);
          return (
            <li key={curve.label} data-hue={curve.isLimit === true ? "limit" : hue % HUES}>
              <button
                type="button"
                className={styles["only"]}
                aria-pressed={only === curve.label}
                title="Show this curve alone"
                onClick={() => setOnly(only === curve.label ? null : curve.label)}
              >
                <svg viewBox="0 0 24 8" aria-hidden="true" className={styles["swatch"]}>
                  <line
                    x1="0"
                    x2="24"
                    y1="4"
                    y2="4"
                    strokeDasharray={curve.isLimit === true ? "3 3" : dashOf(hue).join(" ")}
                  />
                </svg>
                <span className={styles["name"]}>{curve.label}</span>
              </button>{" "}
              <span ref={(element) => values.hold(at, element)} className={styles["value"]} />
            </li>
          );
        })}
      </ul>
      <details onToggle={({ currentTarget }) => setTable(currentTarget.open)}>
        <summary>Figures as a table</summary>
        {isTable ? (
          <Table
            caption={title}
            columns={[
              { title: of, of: ({ label }) => label, by: ({ label }) => label },
              ...figures(plot, unit, axis),
            ]}
            rows={plot.curves}
            keyOf={({ label }) => label}
          />
        ) : null}
      </details>
    </figure>
  );
}

function figures(plot: Plot, unit: Unit, axis: Axis): Column<Curve>[] {
  const said = (value: number) => (Number.isFinite(value) ? inUnit(unit, value) : "");
  const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
  const last = (curve: Curve) => lastOf(plot, curve);
  const least = ({ values, band }: Curve) => Math.min(...known(band?.least ?? values));
  const most = ({ values, band }: Curve) => Math.max(...known(band?.most ?? values));
  return [
    {
      title: "At",
      of: (curve) => {
        const at = last(curve)?.at;
        if (at === undefined) return "";
        return axis === "time" ? <At at={new Date(at * 1_000).toISOString()} /> : at;
      },
      isNumber: true,
    },
    {
      title: "Last",
      of: (curve) => said(last(curve)?.value ?? Number.NaN),
      by: (curve) => last(curve)?.value ?? null,
      isNumber: true,
    },
    { title: "Least", of: (curve) => said(least(curve)), by: least, isNumber: true },
    { title: "Greatest", of: (curve) => said(most(curve)), by: most, isNumber: true },
  ];
}
