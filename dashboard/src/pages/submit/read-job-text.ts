/** A small text file of a job, to be edited. */
import { type JobFileVersion, jobFileUrl } from "../../api/job-file.ts";
import { readStored } from "../../api/read-stored.ts";
import { Problem } from "../../api/problem.ts";

export const MOST_EDITED_BYTES = 256 * 1024;

/** @throws Problem where it is no text */
export async function readJobText(file: JobFileVersion): Promise<string> {
  const answer = await readStored(await jobFileUrl(file));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await answer.arrayBuffer());
  } catch {
    throw new Problem({
      ...{ code: "not_text", message: "the file is no text in UTF-8" },
      ...{ hint: "Replace it by a file of yours.", status: 0, requestId: null },
    });
  }
}
