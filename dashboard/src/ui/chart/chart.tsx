import { useEffect, useRef, useSyncExternalStore } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Curve, Plot } from "./aligned-of.ts";
import { useChartGroup } from "./chart-group.tsx";
import type { LegendValues } from "./legend-values.ts";
import { rangeOf, stepsOf, tickText, timeTicks, type Unit, WHOLE_STEPS } from "./units.ts";
import { type Zoom, zoomByKey } from "./ranges.ts";
import { dashOf, HUES, hueOf } from "./hues.ts";
import styles from "./chart.module.css";

/** What stands at each place: an instant, something that is counted, or a measure. */
export type Axis = "time" | "whole" | "number";
/** A place that must be seen. */
export type ChartMark = { at: number; label: string };

const BAND_OPACITY = 0.16;
/** So many curves are thin: they hide one another less, and are drawn in a third of the time. */
const CROWD = 8;
const LIMIT_DASH = [3, 3];

/** A canvas of curves with one cursor; the figures themselves stand in the table beside it. @param values where the legend's figures are written */
export function Chart({
  title,
  plot,
  unit,
  axis,
  marks = [],
  values,
  only,
}: {
  title: string;
  plot: Plot;
  unit: Unit;
  axis: Axis;
  marks?: readonly ChartMark[];
  values: LegendValues;
  /** The label of the curve that is shown alone; null: all are. */
  only: string | null;
}) {
  const place = useRef<HTMLDivElement>(null);
  const made = useRef<uPlot | null>(null);
  const shown = useRef({ plot, marks });
  /** Of the chart that is there. */
  const drawn = useRef<Plot | null>(null);
  const { key, height, zoom, setZoom } = useChartGroup();
  const isDark = useSyncExternalStore(watchScheme, () => SCHEME.matches);
  // Before a chart is made: other curves make another one, which is of these.
  useEffect(() => {
    shown.current = { plot, marks };
  }, [plot, marks]);
  const names = plot.curves.map((curve) => `${curve.label}\t${curve.isLimit === true}`).join("\n");
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const { curves } = shown.current.plot;
    const colours = coloursOf(element);
    const chart = new uPlot(
      {
        ...{ width: element.clientWidth, height, legend: { show: false } },
        cursor: {
          y: false,
          sync: { key, scales: ["x", null] },
          drag: { x: true, y: false, setScale: false },
          points: { size: 7 },
          bind: { dblclick: () => () => (setZoom(null), null) },
        },
        scales: {
          x: { time: axis === "time" },
          y: { range: (_, least, most) => rangeOf(unit, least, most) },
        },
        axes: axesOf(unit, axis, colours),
        series: [
          {},
          ...curves.flatMap((curve, at) =>
            seriesOf(curve, at, axis, colours, curves.length > CROWD),
          ),
        ],
        bands: bandsOf(curves, colours),
        hooks: {
          setCursor: [({ cursor }) => values.show(cursor.idx ?? null)],
          setSelect: [
            (self) => {
              const { left, width } = self.select;
              if (width < 4) return;
              setZoom({ min: self.posToVal(left, "x"), max: self.posToVal(left + width, "x") });
              self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            },
          ],
          draw: [(self) => drawMarks(self, shown.current.marks, colours)],
        },
      },
      dataOf(shown.current.plot),
      element,
    );
    made.current = chart;
    drawn.current = shown.current.plot;
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
      made.current = null;
    };
    // Its curves are the same as long as their names are; their values are set below.
  }, [names, unit, axis, height, key, setZoom, values, isDark]);
  useEffect(() => {
    const chart = made.current;
    if (chart === null) return;
    // Whatever was just made has them already.
    if (drawn.current !== plot) chart.setData(dataOf(plot), false);
    drawn.current = plot;
    chart.setScale("x", zoom ?? wholeOf(plot));
    values.show(null);
  }, [plot, marks, zoom, names, unit, axis, height, values, isDark]);
  useEffect(() => {
    const chart = made.current;
    if (chart === null) return;
    for (const [series, label] of labelsOfSeries(shown.current.plot.curves).entries())
      chart.setSeries(series + 1, { show: only === null || only === label });
  }, [only, names, unit, axis, height, key, setZoom, values, isDark]);
  return (
    <div
      ref={place}
      className={styles["chart"]}
      role="group"
      aria-roledescription="chart"
      aria-label={`${title}. Plus and minus zoom, arrows move, Escape shows all.`}
      tabIndex={0}
      onKeyDown={(event) => {
        const all = wholeOf(plot);
        const next = zoomByKey(event.key, zoom ?? all, all);
        if (next === undefined) return;
        event.preventDefault();
        setZoom(next);
      }}
    />
  );
}

/** A curve with a band is three series. */
function labelsOfSeries(curves: readonly Curve[]): string[] {
  return curves.flatMap(({ label, band }) =>
    band === undefined ? [label] : [label, label, label],
  );
}

const SCHEME = matchMedia("(prefers-color-scheme: dark)");

function watchScheme(watcher: () => void): () => void {
  SCHEME.addEventListener("change", watcher);
  return () => SCHEME.removeEventListener("change", watcher);
}

function wholeOf({ places }: Plot): Zoom {
  const [min, max] = [places[0] ?? 0, places.at(-1) ?? 1];
  return min === max ? { min: min - 1, max: max + 1 } : { min, max };
}

function dataOf({ places, curves }: Plot): uPlot.AlignedData {
  return [
    places,
    ...curves.flatMap(({ values, band }) =>
      band === undefined ? [values] : [values, band.least, band.most],
    ),
  ] as uPlot.AlignedData;
}

type Colours = { hues: readonly string[]; text: string; grid: string; bad: string };

/** A canvas knows no variables of the style sheet: what they come to is read off an element. */
function coloursOf(element: HTMLElement): Colours {
  const probe = element.appendChild(document.createElement("span"));
  const read = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    hues: Array.from({ length: HUES }, (_, at) => read(`--series-${at + 1}`)),
    ...{ text: read("--quiet"), grid: read("--line"), bad: read("--bad") },
  };
  probe.remove();
  return colours;
}

function axesOf(unit: Unit, axis: Axis, { text, grid }: Colours): uPlot.Axis[] {
  const look = {
    stroke: text,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1 },
  };
  const steps = stepsOf(unit);
  return [
    {
      ...look,
      size: 32,
      ...(axis === "whole"
        ? { incrs: [...WHOLE_STEPS], values: (_: uPlot, ticks: number[]) => ticks.map(String) }
        : axis === "time"
          ? { values: (_: uPlot, ticks: number[]) => timeTicks(ticks) }
          : {}),
    },
    {
      ...look,
      size: unit === "bytes/s" ? 78 : 62,
      ...(steps === undefined ? {} : { incrs: steps }),
      values: (_: uPlot, ticks: number[]) => ticks.map((tick) => tickText(unit, tick)),
    },
  ];
}

function seriesOf(
  curve: Curve,
  at: number,
  axis: Axis,
  { hues, bad }: Colours,
  isCrowded: boolean,
): uPlot.Series[] {
  const hue = hueOf(curve, at);
  const stroke = curve.isLimit === true ? bad : hues[hue % HUES]!;
  const line: uPlot.Series = {
    ...{ label: curve.label, stroke, spanGaps: axis !== "time" },
    dash: curve.isLimit === true ? LIMIT_DASH : [...dashOf(hue)],
    width: curve.isLimit === true || isCrowded ? 1 : 1.75,
    ...(axis === "time" ? { points: { show: false } } : {}),
  };
  if (curve.band === undefined) return [line];
  const edge = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
  return [line, { ...edge, label: "least" }, { ...edge, label: "greatest" }];
}

function bandsOf(curves: readonly Curve[], { hues }: Colours): uPlot.Band[] {
  let series = 1;
  return curves.flatMap((curve, at) => {
    const first = series;
    series += curve.band === undefined ? 1 : 3;
    const colour = hues[hueOf(curve, at) % HUES]!;
    return curve.band === undefined
      ? []
      : [{ series: [first + 2, first + 1] as uPlot.Band.Bounds, fill: translucent(colour) }];
  });
}

/** @param colour `rgb(r, g, b)`, as computed styles have it */
function translucent(colour: string): string {
  return colour.replace("rgb(", "rgba(").replace(")", `, ${BAND_OPACITY})`);
}

function drawMarks(chart: uPlot, marks: readonly ChartMark[], { bad }: Colours): void {
  const { ctx, bbox } = chart;
  if (marks.length === 0) return;
  ctx.save();
  ctx.strokeStyle = bad;
  ctx.fillStyle = bad;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.font = `${11 * devicePixelRatio}px system-ui`;
  for (const { at, label } of marks) {
    const x = chart.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(label, x + 3 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
  }
  ctx.restore();
}
