/** A job by the beginning of its id, as the lists that people copy from are often cut. */
import { getJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";

const WHOLE = /^job-[0-9a-z]{16}$/;
/** So many tell that a beginning is of several. */
const LOOKED_AT = 20;

/** The whole id. What begins no job's id is left as it is: the appliance says that there is none. @throws CliError where it begins several */
export async function findJob(settings: Settings, id: string): Promise<string> {
  if (WHOLE.test(id) || !id.startsWith("job-")) return id;
  const { jobs } = await getJson(settings, "/api/jobs", { query: { text: id, limit: LOOKED_AT } });
  const found = jobs.filter((job) => job.id.startsWith(id));
  if (found.length > 1)
    throw new CliError(
      "job_ambiguous",
      `${found.length} jobs begin with ${id}: ${found.map((job) => job.id).join(", ")}`,
      "Say more of the id.",
    );
  return found[0]?.id ?? id;
}
