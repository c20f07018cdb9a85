/** Values of curves as people read them, and where an axis may have its ticks. Pure. */
import { bytes } from "../bytes.ts";

export type Unit =
  | "cores"
  | "devices"
  | "workers"
  | "bytes"
  | "bytes/s"
  | "percent"
  | "watts"
  | "celsius"
  | "seconds"
  | "calls"
  | "calls/s"
  | "tokens/s"
  | "replicas"
  | "number";

/** `1.4 GiB`, `12.0 MiB/s`, `53 %`, `310 W`, `2.6 cores` */
export function inUnit(unit: Unit, value: number): string {
  switch (unit) {
    case "bytes":
      return bytes(value);
    case "bytes/s":
      return `${bytes(value)}/s`;
    case "percent":
      return `${Math.round(value)} %`;
    case "watts":
      return `${Math.round(value)} W`;
    case "celsius":
      return `${Math.round(value)} °C`;
    case "cores":
    case "devices":
    case "workers":
    case "calls":
    case "replicas":
      return value === 1 ? `1 ${unit.slice(0, -1)}` : `${hundredths(value)} ${unit}`;
    case "seconds":
      return value < 1 ? `${short(value * 1_000)} ms` : `${short(value)} s`;
    case "calls/s":
    case "tokens/s":
      return `${hundredths(value)} ${unit}`;
    case "number":
      return short(value);
  }
}

/** Of what is counted, a hundredth is as fine as anybody needs. */
function hundredths(value: number): string {
  return String(Number(value.toFixed(2)));
}

/** Four digits, and no more than the value has: the wide and the tiny in powers of ten. */
function short(value: number): string {
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6))
    return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

const COUNTED: readonly Unit[] = [
  ...(["cores", "devices", "workers", "calls", "replicas"] as const),
  ...(["calls/s", "tokens/s"] as const),
];

/** On an axis the unit stands in the title of the figure where it is short enough. */
export function tickText(unit: Unit, value: number): string {
  return COUNTED.includes(unit) ? short(value) : inUnit(unit, value).replace(".0 ", " ");
}

/** Steps between ticks; undefined: what the chart finds round. */
export function stepsOf(unit: Unit): number[] | undefined {
  if (unit !== "bytes" && unit !== "bytes/s") return undefined;
  // Ticks of binary units are round in binary.
  return Array.from({ length: 50 }, (_, power) => 2 ** power);
}

/** Rounds, steps and epochs are counted: no tick stands between two. */
export const WHOLE_STEPS: readonly number[] = wholeSteps();

function wholeSteps(): number[] {
  return Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();
}

const DAY_S = 86_400;
const DAY = new Intl.DateTimeFormat([], { month: "short", day: "numeric" });
const MINUTE = new Intl.DateTimeFormat([], {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const SECOND = new Intl.DateTimeFormat([], {
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
});

/** @param ticks Unix seconds, equally far from one another */
export function timeTicks(ticks: readonly number[]): string[] {
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  const words = step >= DAY_S ? DAY : step >= 60 ? MINUTE : SECOND;
  return ticks.map((tick) => words.format(tick * 1_000));
}

/** From where to where an axis of values goes. Shares begin at 0, so that little looks little. */
export function rangeOf(unit: Unit, least: number | null, most: number | null): [number, number] {
  if (unit === "percent") return [0, 100];
  const [from, to] = [least ?? 0, most ?? 1];
  if (unit !== "number") return [0, to <= 0 ? 1 : to * 1.08];
  const room = to === from ? Math.max(Math.abs(to) * 0.1, 1e-3) : (to - from) * 0.08;
  return [from - room, to + room];
}
