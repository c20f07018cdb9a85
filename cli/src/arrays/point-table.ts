/** The jobs of an array as rows for a terminal. Pure. */
import type { ArrayListReply, ArrayReply } from "@resontech/contracts/http-arrays";
import { JOB_WORDS } from "@resontech/contracts/state-words";

const NONE = "-";

/** @param by a metric: those with the least value come first, and those without one last; null: in their order */
export function pointTable(
  { points }: Pick<ArrayReply, "points">,
  by: string | null,
): { head: string[]; rows: string[][] } {
  const parameters = namesOf(points.map((point) => point.parameters));
  const metrics = namesOf(points.map((point) => point.metrics));
  const ordered =
    by === null
      ? points
      : points.toSorted((a, b) => (a.metrics[by] ?? Infinity) - (b.metrics[by] ?? Infinity));
  return {
    head: ["POINT", ...parameters, "STATE", ...metrics, "JOB"],
    rows: ordered.map((point) => [
      String(point.index),
      ...parameters.map((name) => point.parameters[name] ?? NONE),
      point.job === null ? "deleted" : JOB_WORDS[point.job.state],
      ...metrics.map((name) => valueText(point.metrics[name])),
      point.job?.id ?? NONE,
    ]),
  };
}

/** `8 wait, 2 run, 88 succeeded, 2 failed`, without what there is none of. */
export function countWords({ counts }: Pick<ArrayListReply["arrays"][number], "counts">): string {
  const { waiting, running, succeeded, failed } = counts;
  const told = [
    [waiting, waiting === 1 ? "waits" : "wait"],
    [running, running === 1 ? "runs" : "run"],
    [succeeded, "succeeded"],
    [failed, "did not succeed"],
  ] as const;
  return told
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(", ");
}

/** In the order in which they first come. */
function namesOf(records: readonly Readonly<Record<string, unknown>>[]): string[] {
  return [...new Set(records.flatMap((one) => Object.keys(one)))];
}

function valueText(value: number | undefined): string {
  return value === undefined ? NONE : String(Number(value.toPrecision(4)));
}
