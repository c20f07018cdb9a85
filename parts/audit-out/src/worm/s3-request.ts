/** One signed request to the store of a WORM copy, bounded in time and size. */
import {
  beginS3Exchange,
  readS3Reply,
  s3CodeIn,
  type S3Endpoint,
  type S3Reply,
} from "@resontech/frame/s3-exchange";

export type S3Store = S3Endpoint & {
  bucket: string;
  /** PEM; the system's authorities where it is not given. */
  ca?: string;
};

export type S3Call = {
  method: "GET" | "PUT" | "DELETE";
  /** Letters, digits, `.`, `/` and `-` alone; empty for the bucket itself. */
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Buffer;
};

/** `code` is S3's own, empty where the answer has none. */
export type S3Answer = S3Reply & { code: string };

const IDLE_MS = 30_000;
const MAX_ANSWER_BYTES = 8_388_608;

export async function callS3(
  { bucket, ca, ...endpoint }: S3Store,
  { key, ...call }: S3Call,
  signal: AbortSignal,
): Promise<S3Answer> {
  const begun = await beginS3Exchange(
    endpoint,
    { ...call, path: key === "" ? [bucket] : [bucket, key] },
    { idleMs: IDLE_MS, signal, ...(ca === undefined ? {} : { ca }) },
  );
  const reply = await readS3Reply(begun, MAX_ANSWER_BYTES);
  return { ...reply, code: s3CodeIn(reply.body) };
}
