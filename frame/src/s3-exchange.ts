/**
 * One signed request to an S3 store: SigV4 by aws4fetch, sent by Node.
 *
 * No S3 SDK: those undo `+` and `%` in listed keys, send writes again by themselves and know no deadline. When to ask again is each caller's decision.
 */
import { createHash } from "node:crypto";
import {
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { AwsV4Signer } from "aws4fetch";

export type S3Endpoint = {
  /** Scheme, name and port. */
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
};

export type S3Exchange = {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE" | "PATCH";
  /** `[]` is the service, `[bucket]` a bucket, `[bucket, key]` an object. */
  path: readonly string[];
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
};

export type S3Sending = {
  /** Longest silence of the store, in milliseconds. */
  idleMs: number;
  /** @default Node's own */
  agent?: Agent;
  /** PEM; the system's authorities where no agent and no authority is given. */
  ca?: string;
  signal?: AbortSignal;
  /** As SigV4 writes it, `20261121T174500Z`. @default now */
  datetime?: string;
};

/** @property answer comes with its head; its body is still to be read */
export type BegunExchange = { request: ClientRequest; answer: Promise<IncomingMessage> };
export type S3Reply = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/**
 * Keys that signatures are made with, by the secret, the day and the region that they are derived of: four of the five HMACs of a request. Few
 * stores are asked, each with a new key a day.
 */
const signingKeys = new Map<string, ArrayBuffer>();
const MAX_SIGNING_KEYS = 16;

/** What `AwsV4Signer` looks into before it derives a key anew. */
export function keptSigningKeys(): Map<string, ArrayBuffer> {
  if (signingKeys.size > MAX_SIGNING_KEYS) signingKeys.clear();
  return signingKeys;
}

/** Signs and sends. Its `answer` fails where the store is away or silent. */
export async function beginS3Exchange(
  { endpoint, ...signing }: S3Endpoint,
  { method, path, query = {}, headers = {}, body = Buffer.alloc(0) }: S3Exchange,
  { idleMs, agent, ca, signal, datetime }: S3Sending,
): Promise<BegunExchange> {
  const signed = await new AwsV4Signer({
    ...{ method, url: s3UrlOf(endpoint, path, query).href, service: "s3", ...signing },
    headers: { ...headers, "x-amz-content-sha256": sha256Of(body) },
    cache: keptSigningKeys(),
    ...(datetime === undefined ? {} : { datetime }),
  }).sign();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = signed.url.protocol === "https:" ? httpsRequest : httpRequest;
  const request = send(signed.url, {
    ...{ method, timeout: idleMs },
    headers: { ...Object.fromEntries(signed.headers), "content-length": String(body.length) },
    ...(agent === undefined ? {} : { agent }),
    ...(ca === undefined ? {} : { ca }),
    ...(signal === undefined ? {} : { signal }),
  });
  request.on("timeout", () => request.destroy(new Error(`silent for ${idleMs} ms`)));
  request.on("error", reject);
  request.on("response", resolve);
  request.end(body);
  return { request, answer: promise };
}

/** The whole answer, whatever its status. @throws Error where it ends early, or is longer than `maxBytes` */
export async function readS3Reply(
  { request, answer }: BegunExchange,
  maxBytes: number,
): Promise<S3Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<S3Reply>();
  request.on("error", reject);
  answer.then((response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) request.destroy(new Error(`an answer longer than ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on("error", reject);
    response.on("end", () => {
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, body: Buffer.concat(chunks) });
    });
  }, reject);
  return await promise;
}

/** @throws RangeError for a segment that URLs collapse */
export function s3UrlOf(
  endpoint: string,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
): URL {
  const segments = path.flatMap((part) => part.split("/"));
  // WHATWG URLs collapse these, also when escaped: the request would reach another object than the caller named.
  if (segments.some((segment) => segment === "." || segment === ".."))
    throw new RangeError("an object key with a `.` or `..` segment");
  const url = new URL(`${endpoint.replace(/\/$/, "")}/${segments.map(escapeSegment).join("/")}`);
  url.search = Object.entries(query)
    .map(([name, value]) => `${escapeSegment(name)}=${escapeSegment(value)}`)
    .join("&");
  return url;
}

/** The `Code` of an answer that is an error, in S3's spelling; empty where the answer has none. */
export function s3CodeIn(body: Buffer): string {
  const head = body.toString("utf8", 0, 4_096);
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(head)?.[1] ?? "";
}

function sha256Of(body: Buffer): string {
  return createHash("sha256").update(body).digest("hex");
}

/** Every byte that RFC 3986 does not reserve for itself is escaped, so that `URL` changes nothing and the signature holds. */
function escapeSegment(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
