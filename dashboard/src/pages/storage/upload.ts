/** A file of the person's into the bucket, in parts: the browser sends them to the object store itself, by URLs that were signed for it. */
import { UPLOAD_PART_BYTES } from "@resontech/contracts/http-storage";
import { ask, askAgain } from "../../api/ask.ts";
import { asProblem } from "../../api/problem.ts";
import { storeProblem } from "../../api/store-problem.ts";

const TRIES = 4;
const WAIT_MS = 1_000;

/** @param sent bytes that are stored, as they come @returns the version that the object now has @throws Problem */
export async function upload(
  key: string,
  file: Blob,
  project: string | undefined,
  sent: (bytes: number) => void,
): Promise<string> {
  const named = project === undefined ? {} : { project };
  const { uploadId, urls } = await askAgain("POST", "/api/users/storage/upload/init", {
    body: { key, size: file.size },
    ...named,
  });
  const parts: { PartNumber: number; ETag: string }[] = [];
  try {
    for (const [at, url] of urls.entries()) {
      const part = file.slice(at * UPLOAD_PART_BYTES, (at + 1) * UPLOAD_PART_BYTES);
      parts.push({ PartNumber: at + 1, ETag: await putPart(url, part) });
      sent(part.size);
    }
  } catch (error) {
    // What is half there would count in the quota.
    const body = { key, uploadId };
    await askAgain("POST", "/api/users/storage/upload/abort", { body, ...named });
    throw error;
  }
  return await complete({ key, uploadId, parts }, named, file.size);
}

/** Completes the upload. After an answer that was lost it may be done and no more, or somebody gave it up: the object says which. */
async function complete(
  body: { key: string; uploadId: string; parts: { PartNumber: number; ETag: string }[] },
  named: { project?: string },
  size: number,
): Promise<string> {
  const path = "/api/users/storage/upload/complete";
  try {
    return (await ask("POST", path, { body, ...named })).versionId;
  } catch (error) {
    if (asProblem(error).status !== 0) throw error;
    const stored = await askAgain("POST", path, { body, ...named }).catch(
      async (again: unknown) => {
        if (asProblem(again).code !== "upload_not_found") throw again;
        const { key } = body;
        const found = await askAgain("POST", "/api/users/storage/download", {
          body: { key },
          ...named,
        });
        if (found.sizeBytes !== size) throw again;
        return found;
      },
    );
    return stored.versionId;
  }
}

/** A broken connection is tried again; what the store refuses is not. */
async function putPart(url: string, part: Blob): Promise<string> {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, { method: "PUT", body: part, credentials: "omit" }).catch(
      () => null,
    );
    const etag = answer?.headers.get("etag");
    if (answer?.ok === true && etag != null) return etag.replaceAll('"', "");
    if (answer !== null || tries === TRIES)
      throw storeProblem(
        answer?.status ?? null,
        "Try again. If the bucket is full, remove something first.",
      );
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS * tries));
  }
}
