import { Problem } from "../../api/problem.ts";

/** @property isWhole the file has no more */
export type FileHead = { bytes: Uint8Array<ArrayBuffer>; isWhole: boolean };

/** The first bytes of a file; the rest is not sent. @throws Problem */
export async function readFileHead(
  url: string,
  most: number,
  signal: AbortSignal,
): Promise<FileHead> {
  const answer = await fetch(url, { credentials: "omit", signal });
  if (!answer.ok || answer.body === null)
    throw new Problem({
      code: "storage_refused",
      message: `the object store answered with status ${answer.status}`,
      hint: "Try again, or download the file.",
      ...{ status: answer.status, requestId: null },
    });
  const reader = answer.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  while (length < most) {
    const { done, value } = await reader.read();
    if (done) {
      isWhole = true;
      break;
    }
    chunks.push(value);
    length += value.length;
  }
  await reader.cancel();
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { bytes, isWhole };
}
