/** Files of a job by version. The browser reads them from the object store itself; to give the URL out is a fact of the audit log. */
import { ask } from "./ask.ts";
import { Problem } from "./problem.ts";

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

/** @param range of bytes, both ends included @throws Problem */
export async function readStored(
  url: string,
  { range, signal }: { range?: readonly [start: number, end: number]; signal?: AbortSignal } = {},
): Promise<Response> {
  const answer = await fetch(url, {
    ...{ credentials: "omit", signal: signal ?? null },
    ...(range === undefined ? {} : { headers: { range: `bytes=${range[0]}-${range[1]}` } }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    return null;
  });
  if (answer?.ok === true) return answer;
  throw new Problem({
    code: answer === null ? "unreachable" : "storage_refused",
    message:
      answer === null
        ? "the object store did not answer"
        : `the object store answered with status ${answer.status}`,
    hint: "Try again. If it lasts, look at the page Storage.",
    ...{ status: answer?.status ?? 0, requestId: null },
  });
}
