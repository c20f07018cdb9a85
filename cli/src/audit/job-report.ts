/** `resontech audit report job`: what became of a job, and who touched its objects, in one order. */
import type { AuditEventRow } from "@resontech/contracts/http-audit";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { type Found, merged, rowOf, SEARCH_HEAD, searchMany } from "./search.ts";
import type { Filters } from "./search-query.ts";

/** @property areObjectsKnown the appliance knows which objects are the job's */
export type JobReport = Found & { areObjectsKnown: boolean };

/** @throws CliError */
export async function reportJob(
  settings: Settings,
  queries: readonly Filters[],
  limit: number,
): Promise<JobReport> {
  const options = { oldest: true, limit };
  const search = (asked: readonly Filters[]): Promise<Found> =>
    searchMany(settings, asked, options);
  const own = await search(queries.filter(({ objectsOf }) => objectsOf === undefined));
  const objects = await search(queries.filter(({ objectsOf }) => objectsOf !== undefined)).catch(
    (error: unknown) => {
      if (error instanceof CliError && error.code === "not_found") return null;
      throw error;
    },
  );
  // Who asked for the job, and from where, was logged when it had no id yet; and its members have ids of their own.
  const ops = new Set(own.events.filter(({ type }) => type.startsWith("job.")).map(({ op }) => op));
  const asked = await search([...ops].map((op) => ({ op })));
  return {
    ...merged([own, asked, ...(objects === null ? [] : [objects])], options),
    areObjectsKnown: objects !== null,
  };
}

export const JOB_HEAD = [...SEARCH_HEAD.slice(0, -1), "FROM", ...SEARCH_HEAD.slice(-1)];

/** The last entry of an operation does not repeat where it came from: the first one says it for both. */
export function jobRows(events: readonly AuditEventRow[]): string[][] {
  const sources = new Map<string, string>();
  for (const { op, source } of events) if (source !== null) sources.set(op, source);
  return events.map((event) => [
    ...rowOf(event).slice(0, -1),
    sources.get(event.op) ?? "-",
    rowOf(event).at(-1)!,
  ]);
}
