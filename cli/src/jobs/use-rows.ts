/** Pure: what the members of a job used, as rows for a terminal. */
import type { UseMeasure, UseReply } from "@resontech/contracts/http-use";
import { size } from "../size.ts";

type Series = UseReply["series"][number];
type Curve = (number | null)[];

export const USE_HEAD = [
  ...["MEMBER", "ATTEMPT", "CPU", "CPU MEAN", "CPU MAX", "MEMORY", "MEMORY MAX", "LIMIT"],
  ...["READ", "WRITTEN", "RECEIVED", "SENT"],
  ...["DEVICE", "DEVICE MEAN", "DEVICE MAX", "DEVICE MEMORY"],
];
const UNKNOWN = "-";
/** The last look may not be there yet. */
const RECENT = 3;

/** A row for each member of each attempt, in the order of the answer. What is not known is `-`. */
export function useRows({ series, stepS }: Pick<UseReply, "series" | "stepS">): string[][] {
  const members = Map.groupBy(series, ({ of }) => of.member ?? "");
  return [...members.values()].map((curves) => {
    const { site, member, attempt } = curves[0]!.of;
    const one = (measure: UseMeasure): Curve => valuesOf(curves, measure, sum);
    const [cpu, memory, use] = [one("cpu"), one("memory"), valuesOf(curves, "device_use", mean)];
    const total = (measure: UseMeasure): string => bytes(integral(one(measure), stepS));
    return [
      ...[site ?? member ?? UNKNOWN, attempt ?? UNKNOWN],
      ...[cores(now(cpu)), cores(mean(known(cpu))), cores(most(cpu))],
      ...[bytes(now(memory)), bytes(most([...memory, ...one("memory_peak")]))],
      ...[bytes(now(known(one("memory_limit")))), total("disk_read"), total("disk_write")],
      ...[total("network_in"), total("network_out")],
      ...[percent(now(use)), percent(mean(known(use))), percent(most(use))],
      bytes(most(one("device_memory"))),
    ];
  });
}

/** Of a member with several devices their values at each time together. */
function valuesOf(
  curves: readonly Series[],
  measure: UseMeasure,
  together: (values: readonly number[]) => number | null,
): Curve {
  const own = curves.filter((curve) => curve.measure === measure).map(({ values }) => values);
  return (own[0] ?? []).map((_, at) => together(known(own.map((values) => values[at] ?? null))));
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function sum(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number | null {
  const total = sum(values);
  return total === null ? null : total / values.length;
}

function most(values: readonly (number | null)[]): number | null {
  const all = known(values);
  return all.length === 0 ? null : Math.max(...all);
}

/** The newest of the last few; null of what has ended. */
function now(values: Curve): number | null {
  return values.slice(-RECENT).findLast((value) => value !== null) ?? null;
}

/** What a rate comes to, over all time that is known. */
function integral(rates: Curve, stepS: number): number | null {
  const total = sum(known(rates));
  return total === null ? null : total * stepS;
}

function cores(value: number | null): string {
  return value === null ? UNKNOWN : value.toFixed(2);
}

function percent(value: number | null): string {
  return value === null ? UNKNOWN : `${Math.round(value)}%`;
}

function bytes(value: number | null): string {
  return value === null ? UNKNOWN : size(Math.round(value));
}
