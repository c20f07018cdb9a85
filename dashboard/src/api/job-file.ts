/** Files of a job by version. The browser reads them from the object store itself; to give the URL out is a fact of the audit log. */
import { ask } from "./ask.ts";

export type JobFileVersion = {
  job: string;
  project: string | undefined;
  key: string;
  versionId: string;
};

/** @throws Problem where the file is gone, or may not leave */
export async function jobFileUrl({
  job,
  project,
  key,
  versionId,
}: JobFileVersion): Promise<string> {
  const { url } = await ask("POST", "/api/jobs/{id}/download", {
    params: { id: job },
    body: { key, versionId },
    ...(project === undefined ? {} : { project }),
  });
  return url;
}
