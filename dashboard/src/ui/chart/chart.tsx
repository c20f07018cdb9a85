import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { alignedOf, type Line } from "./aligned-of.ts";
import styles from "./chart.module.css";

/** Told apart by dashes as well as by colour (Okabe and Ito, 2008). */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"] as const;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]] as const;
const HEIGHT = 220;

/** A canvas of lines with one cursor; the figures themselves stand in the table beside it. */
export function Chart({ title, lines }: { title: string; lines: readonly Line[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const names = lines.map(({ label }) => label).join("\n");
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const colour = getComputedStyle(element).getPropertyValue("color");
    const grid = { stroke: "rgb(128 128 128 / 0.25)", width: 1 };
    const made = new uPlot(
      {
        ...{ width: element.clientWidth, height: HEIGHT, legend: { live: true } },
        scales: { x: { time: false } },
        axes: [
          { stroke: colour, grid },
          { stroke: colour, grid, size: 60 },
        ],
        series: [
          {},
          ...names.split("\n").map((label, at) => ({
            ...{ label, stroke: COLOURS[at % COLOURS.length]!, width: 1.75 },
            dash: [...DASHES[Math.floor(at / COLOURS.length) % DASHES.length]!],
            spanGaps: true,
          })),
        ],
      },
      [[], ...names.split("\n").map(() => [])],
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [names]);
  useEffect(() => {
    plot.current?.setData(alignedOf(lines));
  }, [lines, names]);
  return <div ref={place} className={styles["chart"]} role="img" aria-label={title} />;
}
