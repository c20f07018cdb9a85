/** Jobs as the appliance has them: pages of them, newest first, and where one is found. */
import type { JobListReply } from "@resontech/contracts/http-jobs";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
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
    const page: JobListReply = await getJson(settings, "/api/jobs", {
      query: { ...filter, before, limit: Math.min(PAGE, limit - jobs.length) },
    });
    jobs.push(...page.jobs);
    before = page.next ?? undefined;
  } while (before !== undefined && jobs.length < limit);
  return { jobs, areMore: before !== undefined };
}

/** One job with its members. @throws CliError */
export async function readJob(settings: Settings, id: string): Promise<DashboardJobWithWorkers> {
  return await getJson(settings, "/api/customer/dashboard/jobs/{id}", { params: { id } });
}
