import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { alignedOf, type Line } from "./aligned-of.ts";
import styles from "./chart.module.css";

/** Told apart by dashes as well as by colour (Okabe and Ito, 2008). */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"] as const;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]] as const;
const HEIGHT = 220;

const BAND_OPACITY = 0.18;

/** A canvas of lines with one cursor, each in the band between its least and greatest values; the figures themselves stand in the table beside it. */
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
          ...names.split("\n").flatMap((label, at) => {
            const stroke = COLOURS[at % COLOURS.length]!;
            const dash = [...DASHES[Math.floor(at / COLOURS.length) % DASHES.length]!];
            const edge = {
              stroke: "transparent",
              width: 0,
              points: { show: false },
              spanGaps: true,
            };
            return [
              { label, stroke, dash, width: 1.75, spanGaps: true },
              { ...edge, label: `${label}, least` },
              { ...edge, label: `${label}, greatest` },
            ];
          }),
        ],
        bands: names.split("\n").map((_, at) => ({
          series: [3 * at + 3, 3 * at + 2],
          fill: translucent(COLOURS[at % COLOURS.length]!),
        })),
        hooks: { init: [hideEdges] },
      },
      [[], ...names.split("\n").flatMap(() => [[], [], []])],
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

/** The legend names lines, not the edges of their bands. */
function hideEdges(plot: uPlot): void {
  for (const [at, row] of plot.root.querySelectorAll<HTMLElement>(".u-series").entries())
    row.hidden = at > 0 && (at - 1) % 3 !== 0;
}

/** @param colour `#rrggbb` */
function translucent(colour: string): string {
  return `${colour}${Math.round(BAND_OPACITY * 255).toString(16)}`;
}
