/** One question to the store of backups, asked again while the store is away. {@link BucketSettings} name TLS alone. */
import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { beginS3Exchange, s3CodeIn } from "@resontech/frame/s3-exchange";
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
  { bucket, prefix = "", ca, ...endpoint }: BucketSettings,
  { key, ...call }: S3Call,
): Promise<IncomingMessage> {
  const { answer } = await beginS3Exchange(
    endpoint,
    { ...call, path: key === "" ? [bucket] : [bucket, `${prefix}${key}`] },
    { idleMs: IDLE_MS, ...(ca === undefined ? {} : { ca }) },
  );
  return await answer;
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
  const code = s3CodeIn(Buffer.from(await textOf(answer)));
  const said = `${what} was answered with ${answer.statusCode ?? "?"} ${code}`.trim();
  return new BackupError(
    answer.statusCode === 404 && code !== "NoSuchBucket" ? "backup_missing" : "backup_target",
    said,
  );
}
