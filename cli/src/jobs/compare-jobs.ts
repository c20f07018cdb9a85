/** What differs between jobs, and what came of each, as rows for a terminal. */
import { finalMetrics } from "@resontech/contracts/final-metrics";
import { parameterRows } from "@resontech/contracts/parameter-rows";
import { JOB_WORDS } from "@resontech/contracts/state-words";
import { getJson } from "../api-client.ts";
import type { Settings } from "../settings.ts";
import { size } from "../size.ts";
import { readJob } from "./read-jobs.ts";

const UNKNOWN = "-";

type Comparison = Awaited<ReturnType<typeof readComparison>>;

/** @throws CliError */
export async function readComparison(settings: Settings, ids: readonly string[]) {
  return await Promise.all(
    ids.map(async (id) => {
      const params = { id };
      const [job, parameters, { series }] = await Promise.all([
        readJob(settings, id),
        getJson(settings, "/api/jobs/{id}/parameters", { params }),
        getJson(settings, "/api/jobs/{id}/metrics", { params }),
      ]);
      return { job, parameters, series };
    }),
  );
}

/** @param isAll also what is the same */
export function comparisonRows(jobs: Comparison, isAll: boolean): string[][] {
  const metrics = finalMetrics(jobs.map(({ series }) => series)).map(({ name, values, isBest }) => [
    `last ${name}`,
    ...values.map((value, at) =>
      value === null
        ? UNKNOWN
        : `${Number(value.toPrecision(4))}${isBest[at] === true ? " (best)" : ""}`,
    ),
  ]);
  const words = { projectName: (id: string) => id, size };
  const parameters = parameterRows(
    jobs.map((one) => one.parameters),
    words,
  )
    .filter(({ isDifferent }) => isAll || isDifferent)
    .map(({ name, cells }) => [name.toLowerCase(), ...cells]);
  return [
    ["name", ...jobs.map(({ job }) => job.jobName)],
    ["state", ...jobs.map(({ job }) => JOB_WORDS[job.detail.state])],
    ...metrics,
    ...parameters,
  ];
}
