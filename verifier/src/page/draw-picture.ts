import type { Bar, Lane, Picture } from "../report/picture.ts";
import { element, svgElement } from "./dom.ts";

const WIDTH = 1_000;
const LANE_HEIGHT = 26;
const BAR_HEIGHT = 14;
/** A stretch of seconds in a year must still be seen. */
const MIN_BAR_WIDTH = 3;
const MEANINGS: Readonly<Record<Bar["kind"], string>> = {
  DARK: "auditd did not run, without a stop in good order",
  STOPPED: "auditd did not run, after a stop in good order",
  SILENT: "a producer was away",
  LAPSE: "no quorum of witnesses for too long",
};

/** Bars over the log's time; the list of stretches says the same in words. */
export function drawPicture({ from, to, lanes, left }: Picture): HTMLElement {
  const height = lanes.length * LANE_HEIGHT;
  const figure = element("figure", { class: "picture" });
  const drawn = element("div", { class: "lanes" });
  const names = element("div", { class: "lane-names", "aria-hidden": "true" });
  for (const { name } of lanes) names.appendChild(element("span", {}, name));
  const svg = svgElement("svg", {
    viewBox: `0 0 ${WIDTH} ${height}`,
    height,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": summaryOf(lanes, from, to),
  });
  svg.appendChild(hatching());
  for (const [at, lane] of lanes.entries())
    for (const shape of shapesOf(lane, at * LANE_HEIGHT)) svg.appendChild(shape);
  drawn.appendChild(names);
  drawn.appendChild(svg);
  figure.appendChild(drawn);
  figure.appendChild(
    element("div", { class: "ends" }, element("span", {}, day(from)), element("span", {}, day(to))),
  );
  const kinds = [...new Set(lanes.flatMap(({ bars }) => bars.map(({ kind }) => kind)))];
  const legend = element("figcaption", {}, ...kinds.map((kind) => keyOf(kind)));
  if (kinds.length === 0) legend.appendChild(element("span", {}, "no interruption"));
  if (left > 0) legend.appendChild(element("span", {}, `${left} producers more in the list below`));
  figure.appendChild(legend);
  return figure;
}

function shapesOf({ state, bars }: Lane, top: number): SVGElement[] {
  const y = top + (LANE_HEIGHT - BAR_HEIGHT) / 2;
  const shapes: SVGElement[] = [
    svgElement("rect", { x: 0, y, width: WIDTH, height: BAR_HEIGHT, class: `lane-${state}` }),
  ];
  for (const { kind, at, width, from, to } of bars) {
    const drawnWidth = Math.max(MIN_BAR_WIDTH, width * WIDTH);
    const x = Math.min(at * WIDTH, WIDTH - drawnWidth);
    const bar = svgElement("rect", {
      x,
      y,
      width: drawnWidth,
      height: BAR_HEIGHT,
      class: `bar-${kind.toLowerCase()}`,
    });
    bar.appendChild(svgElement("title", {}, `${kind} ${from} to ${to}`));
    shapes.push(bar);
  }
  return shapes;
}

/** What is told by colour is told by a pattern as well. */
function hatching(): SVGElement {
  const defs = svgElement("defs");
  const pattern = svgElement("pattern", {
    id: "hatch",
    width: 6,
    height: 6,
    patternUnits: "userSpaceOnUse",
  });
  pattern.appendChild(svgElement("rect", { width: 6, height: 6, class: "hatch-ground" }));
  pattern.appendChild(svgElement("path", { d: "M0 6 6 0", class: "hatch-line" }));
  defs.appendChild(pattern);
  return defs;
}

function keyOf(kind: Bar["kind"]): HTMLElement {
  const key = element("span", { class: "key" });
  const swatch = svgElement("svg", { viewBox: "0 0 18 12", "aria-hidden": "true" });
  swatch.appendChild(
    svgElement("rect", { width: 18, height: 12, class: `bar-${kind.toLowerCase()}` }),
  );
  key.appendChild(swatch);
  key.appendChild(
    element("span", {}, kind === "LAPSE" ? MEANINGS[kind] : `${kind}: ${MEANINGS[kind]}`),
  );
  return key;
}

function summaryOf(lanes: readonly Lane[], from: string, to: string): string {
  const counts = lanes.map(
    ({ name, bars }) =>
      `${name}: ${bars.length === 0 ? "no interruption" : `${bars.length} interruptions`}`,
  );
  return `From ${from} to ${to}. ${counts.join("; ")}.`;
}

function day(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
