/** Bytes to and from a presigned URL, streamed. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { Transform } from "node:stream";
import { CliError } from "../cli-error.ts";

/** Longest silence of the other side. */
const SILENT_MS = 60_000;

/** @returns the part's ETag @throws CliError `storage_refused`; another error where the connection broke */
export async function putPart(
  url: string,
  ca: string | null,
  { file, start, bytes }: { file: string; start: number; bytes: number },
  sent: (bytes: number) => void,
): Promise<string> {
  const asked = open(url, ca, { method: "PUT", headers: { "content-length": bytes } });
  const answered = once(asked, "response") as Promise<[IncomingMessage]>;
  answered.catch(() => {});
  if (bytes === 0) asked.end();
  else
    await pipeline(createReadStream(file, { start, end: start + bytes - 1 }), counted(sent), asked);
  const [answer] = await answered;
  answer.resume();
  const { etag } = answer.headers;
  if (answer.statusCode === 200 && etag !== undefined) return etag.replaceAll('"', "");
  throw refused(answer.statusCode);
}

/** The object from a byte on. @throws as {@link putPart} */
export async function getFrom(
  url: string,
  ca: string | null,
  start: number,
): Promise<IncomingMessage> {
  const asked = open(url, ca, {
    method: "GET",
    headers: start === 0 ? {} : { range: `bytes=${start}-` },
  });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  if (answer.statusCode === (start === 0 ? 200 : 206)) return answer;
  answer.resume();
  throw refused(answer.statusCode);
}

export function counted(seen: (bytes: number) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen(chunk.length);
      done(null, chunk);
    },
  });
}

function open(url: string, ca: string | null, options: RequestOptions) {
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  const asked = send(url, { ...options, ...(ca === null ? {} : { ca }) });
  asked.setTimeout(SILENT_MS, () => asked.destroy(new Error("the object store is silent")));
  return asked;
}

function refused(status: number | undefined): CliError {
  return new CliError(
    "storage_refused",
    `the object store answered with status ${status}`,
    "Look whether the bucket is full: resontech storage usage. Then send the same command again.",
  );
}
