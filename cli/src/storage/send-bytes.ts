/** Bytes to and from a presigned URL, streamed. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { Transform } from "node:stream";
import { StoreRefusal } from "./store-refusal.ts";

/** Longest silence of the other side. */
const SILENT_MS = 60_000;
/** Of a refusal's document. */
const MAX_DOCUMENT_BYTES = 64 * 1024;

/** @returns the part's ETag @throws StoreRefusal; another error where the connection broke */
export async function putPart(
  url: string,
  ca: string | null,
  { file, start, bytes }: { file: string; start: number; bytes: number },
  sent: (bytes: number) => void,
): Promise<string> {
  const asked = open(url, ca, { method: "PUT", headers: { "content-length": bytes } });
  const answered = once(asked, "response") as Promise<[IncomingMessage]>;
  answered.catch(() => {});
  const sending =
    bytes === 0
      ? Promise.resolve(void asked.end())
      : pipeline(createReadStream(file, { start, end: start + bytes - 1 }), counted(sent), asked);
  // A refusal may come before all is sent; then nobody takes the rest.
  const [answer] = await Promise.race([answered, sending.then(() => answered)]);
  sending.catch(() => {});
  const { etag } = answer.headers;
  if (answer.statusCode !== 200 || etag === undefined) {
    const refusal = await refusalOf(answer);
    asked.destroy();
    throw refusal;
  }
  answer.resume();
  await sending;
  return etag.replaceAll('"', "");
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
  throw await refusalOf(answer);
}

/** Reads the object's ETag by asking for its first byte: no more of it is read. @throws as {@link putPart} */
export async function etagOf(url: string, ca: string | null): Promise<string> {
  const asked = open(url, ca, { method: "GET", headers: { range: "bytes=0-0" } });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  if (answer.statusCode !== 206) throw await refusalOf(answer);
  answer.resume();
  return (answer.headers.etag ?? "").replaceAll('"', "");
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

async function refusalOf(answer: IncomingMessage): Promise<StoreRefusal> {
  let document = "";
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      document += chunk.toString("latin1");
      if (document.length > MAX_DOCUMENT_BYTES) break;
    }
  } catch {
    // The status says enough.
  }
  return new StoreRefusal(answer.statusCode ?? 0, document);
}
