/** One signed request to an S3 store: SigV4 by aws4fetch, sent by Node, over TLS alone. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { BackupError } from "../backup-error.ts";
import type { BucketSettings } from "./bucket-file.ts";

export type S3Call = {
  method: "GET" | "PUT" | "POST" | "DELETE";
  /** Letters, digits, `.`, `_`, `-` and `/` alone; empty for the bucket itself. */
  key: string;
  query?: Readonly<Record<string, string>>;
  body?: Buffer;
};

const IDLE_MS = 60_000;
const AGAIN_AFTER_MS = [500, 2_000, 8_000] as const;
const MAX_TEXT_BYTES = 8_388_608;

/**
 * The answer, its body still to be read. A store that fails or is away is asked again, three times in ten seconds.
 * @throws BackupError `backup_target`; `backup_missing` for 404
 */
export async function askS3(settings: BucketSettings, call: S3Call): Promise<IncomingMessage> {
  for (let at = 0; ; at += 1) {
    const answer = await sent(settings, call).catch((error: unknown) => {
      if (error instanceof Error) return error;
      throw error;
    });
    const waitMs = AGAIN_AFTER_MS[at];
    if (!(answer instanceof Error) && isDone(answer)) return answer;
    const isLater = answer instanceof Error || (answer.statusCode ?? 0) >= 500;
    if (waitMs === undefined || !isLater) throw await refused(settings, call, answer);
    if (!(answer instanceof Error)) answer.resume();
    await pause(waitMs);
  }
}

/** A short answer as a whole. @throws BackupError `backup_target` */
export async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  answer.setEncoding("utf8");
  for await (const chunk of answer as AsyncIterable<string>) {
    text += chunk;
    if (text.length > MAX_TEXT_BYTES)
      throw new BackupError("backup_target", "an answer of the store is too long");
  }
  return text;
}

async function sent(
  { endpoint, region, bucket, prefix = "", ca, ...credentials }: BucketSettings,
  { method, key, query, body = Buffer.alloc(0) }: S3Call,
): Promise<IncomingMessage> {
  const { accessKeyId, secretAccessKey } = credentials;
  const url = new URL(`${endpoint}/${bucket}${key === "" ? "" : `/${prefix}${key}`}`);
  url.search = new URLSearchParams(query).toString();
  const signed = await new AwsV4Signer({
    ...{ method, url: url.href, service: "s3", region, accessKeyId, secretAccessKey },
    headers: { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") },
  }).sign();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sending = request(signed.url, {
    ...{ method, timeout: IDLE_MS },
    headers: { ...Object.fromEntries(signed.headers), "content-length": String(body.length) },
    ...(ca === undefined ? {} : { ca }),
  });
  sending.on("timeout", () => sending.destroy(new Error(`it was silent for ${IDLE_MS / 1000} s`)));
  sending.on("error", reject);
  sending.on("response", resolve);
  sending.end(body);
  return await promise;
}

function isDone({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

async function refused(
  { endpoint, bucket }: BucketSettings,
  { method, key }: S3Call,
  answer: IncomingMessage | Error,
): Promise<BackupError> {
  const what = `${endpoint}/${bucket}: ${method} ${key}`;
  if (answer instanceof Error)
    return new BackupError("backup_target", `${what}: ${answer.message}`, { cause: answer });
  const [, code = ""] = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(await textOf(answer)) ?? [];
  const said = `${what} was answered with ${answer.statusCode ?? "?"} ${code}`.trim();
  return new BackupError(
    answer.statusCode === 404 && code !== "NoSuchBucket" ? "backup_missing" : "backup_target",
    said,
  );
}
