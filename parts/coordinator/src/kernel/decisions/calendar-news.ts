/** What people hear of a job that runs where the calendar wants the node for something else. Pure. */
import type { Closure } from "./gate-facts.ts";
import { minuteOf } from "./node-gate.ts";

/** @property endsAt at the latest, in milliseconds; null: it states no end */
export type RunningThere = { project: string; endsAt: number | null };

/** Whether the job may run there still once it begins. One of its own project's is none of that. */
export function runsInto({ project, endsAt }: RunningThere, closure: Closure): boolean {
  if (closure.project === project) return false;
  return endsAt === null || endsAt > closure.from;
}

/** @returns null where it runs into none of them; else of the first that it runs into */
export function calendarNews(
  job: RunningThere,
  places: readonly { node: string; closures: readonly Closure[] }[],
  now: number,
): string | null {
  const [first] = places
    .flatMap(({ node, closures }) =>
      closures.filter((one) => runsInto(job, one)).map((one) => ({ node, ...one })),
    )
    .toSorted((a, b) => a.from - b.from || (a.node < b.node ? -1 : 1));
  if (first === undefined) return null;
  const { node, project, from, until } = first;
  const [start, end] = [minuteOf(from), minuteOf(until)];
  if (project !== null)
    return from <= now
      ? `${node} is reserved for another project until ${end}: the job makes way when it asks`
      : `${node} is reserved for another project from ${start} until ${end}: the job may have to make way then`;
  return from <= now
    ? `${node} is in maintenance until ${end}: the job runs there still, and may be stopped`
    : `${node} goes into maintenance from ${start} until ${end}: the job may run into it, and be stopped then`;
}
