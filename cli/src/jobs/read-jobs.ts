/** Jobs as the appliance has them: pages of them, newest first, and where one is found. */
import type { JobListReply } from "@resontech/contracts/http-jobs";
import { getJson } from "../api-client.ts";
import type { Settings } from "../settings.ts";

type Filter = { state?: string; project?: string | undefined; text?: string };

const PAGE = 200;

/** @returns `areMore` where `limit` cut the list @throws CliError */
export async function readJobs(
  settings: Settings,
  filter: Filter,
  limit: number,
): Promise<{ jobs: JobListReply["jobs"]; areMore: boolean }> {
  const jobs: JobListReply["jobs"] = [];
  let before: number | undefined;
  do {
    const page = (await getJson(settings, "/api/jobs", {
      ...{ ...filter, before, limit: Math.min(PAGE, limit - jobs.length) },
    })) as JobListReply;
    jobs.push(...page.jobs);
    before = page.next ?? undefined;
  } while (before !== undefined && jobs.length < limit);
  return { jobs, areMore: before !== undefined };
}

/** Of one job with its members. */
export function jobPath(id: string): string {
  return `/api/customer/dashboard/jobs/${encodeURIComponent(id)}`;
}
