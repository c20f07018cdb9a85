/** A file of the person's into the bucket, in parts: the browser sends them to the object store itself, by URLs that were signed for it. */
import { UPLOAD_PART_BYTES } from "@resontech/contracts/http-storage";
import { ask } from "../../api/ask.ts";
import { Problem } from "../../api/problem.ts";

const TRIES = 4;
const WAIT_MS = 1_000;

/** @param sent bytes that are stored, as they come @throws Problem */
export async function upload(
  key: string,
  file: Blob,
  project: string | undefined,
  sent: (bytes: number) => void,
): Promise<void> {
  const named = project === undefined ? {} : { project };
  const { uploadId, urls } = await ask<{ uploadId: string; urls: string[] }>(
    ...(["POST", "/api/users/storage/upload/init"] as const),
    { body: { key, size: file.size }, ...named },
  );
  const parts: { PartNumber: number; ETag: string }[] = [];
  try {
    for (const [at, url] of urls.entries()) {
      const part = file.slice(at * UPLOAD_PART_BYTES, (at + 1) * UPLOAD_PART_BYTES);
      parts.push({ PartNumber: at + 1, ETag: await putPart(url, part) });
      sent(part.size);
    }
  } catch (error) {
    // What is half there would count in the quota.
    await ask("POST", "/api/users/storage/upload/abort", { body: { key, uploadId }, ...named });
    throw error;
  }
  await ask("POST", "/api/users/storage/upload/complete", {
    body: { key, uploadId, parts },
    ...named,
  });
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
      throw new Problem({
        code: answer === null ? "unreachable" : "storage_refused",
        message:
          answer === null
            ? "the object store did not answer"
            : `the object store answered with status ${answer.status}`,
        hint: "Try again. If the bucket is full, remove something first.",
        ...{ status: answer?.status ?? 0, requestId: null },
      });
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS * tries));
  }
}
