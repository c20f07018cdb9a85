/** Signed requests to the one S3 name, sent over TLS with the appliance CA, by the engine's clock. */
import { Agent as HttpAgent, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import {
  beginS3Exchange,
  type BegunExchange,
  keptSigningKeys,
  readS3Reply,
  type S3Reply,
  s3UrlOf,
} from "@resontech/frame/s3-exchange";
import { AwsV4Signer } from "aws4fetch";
import { childText, parseDocument } from "./decisions/s3-xml.ts";

export type S3Credentials = { accessKeyId: string; secretAccessKey: string };

export type S3TransportOptions = {
  /** Scheme, name and port that URLs are signed for. */
  endpoint: string;
  region: string;
  /** PEM of the appliance CA; unused when the endpoint is plain HTTP. */
  ca?: string;
  credentials: S3Credentials;
  /** Longest silence of the engine, in milliseconds. @default 15000 */
  idleMs?: number;
  /** Milliseconds since 1970. @default Date.now */
  now?: () => number;
};

export type S3RequestOptions = {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE" | "PATCH";
  /** `[]` is the service, `[bucket]` a bucket, `[bucket, key]` an object. */
  path: readonly string[];
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Longest body to accept, in bytes. @default 16 MiB */
  maxBytes?: number;
  /** Longest silence of the engine, in milliseconds. @default the transport's */
  idleMs?: number;
  signal?: AbortSignal;
};

export type S3Response = S3Reply;

/** The engine answered with an error; `code` keeps S3's spelling. */
export class S3ResponseError extends Error {
  readonly code: string;
  readonly status: number;
  constructor(code: string, status: number, message: string) {
    super(message);
    this.name = "S3ResponseError";
    this.code = code;
    this.status = status;
  }
}

/** The engine did not answer, or not in the S3 protocol. */
export class S3UnavailableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "S3UnavailableError";
  }
}

const MAX_PRESIGN_S = 7 * 24 * 3600;
const MIB = 1024 * 1024;
const STREAM_IDLE_MS = 5 * 60_000;
/** The engine refuses signatures that are 15 minutes off; less than this is no reason for a refusal. */
const CLOCKS_AGREE_MS = 5 * 60_000;
/**
 * Pauses before a read that was answered 500 is sent again. The engine (versitygw 1.8.0) answers a listing so when an object
 * is removed while it looks at it: one in twenty while forty objects go at once.
 */
const READ_AGAIN_AFTER_MS = [50, 150, 450];

export class S3Transport implements Disposable {
  readonly #options: S3TransportOptions;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #idleMs: number;
  readonly #now: () => number;
  /** What the engine's clock is ahead of ours, once it has refused a signature for it. */
  #engineAheadMs = 0;

  constructor(options: S3TransportOptions) {
    this.#options = options;
    this.#idleMs = options.idleMs ?? 15_000;
    this.#now = options.now ?? Date.now;
    this.#agent = options.endpoint.startsWith("https:")
      ? new HttpsAgent({
          keepAlive: true,
          maxSockets: 32,
          ...(options.ca === undefined ? {} : { ca: options.ca }),
        })
      : new HttpAgent({ keepAlive: true, maxSockets: 32 });
  }

  /**
   * Sends one request; a GET or HEAD that the engine failed at is sent again, up to three times within 0.65 s.
   *
   * @throws S3ResponseError for any status that is not 2xx, S3UnavailableError when there is no answer.
   */
  async send(options: S3RequestOptions): Promise<S3Response> {
    const { maxBytes = 16 * MIB } = options;
    const attempt = async (): Promise<S3Response> =>
      await readS3Reply(await this.#begin(options), maxBytes).catch(notAnswered);
    let response = await attempt();
    if (response.status === 403 && this.#followEngine(response.headers.date))
      response = await attempt();
    for (const ms of isRead(options) ? READ_AGAIN_AFTER_MS : []) {
      if (response.status !== 500) break;
      await pause(ms, undefined, options.signal === undefined ? {} : { signal: options.signal });
      response = await attempt();
    }
    if (response.status >= 200 && response.status < 300) return response;
    throw errorOf(response);
  }

  /**
   * Sends one request without a body, and gives the answer's as it comes: nobody waits for its end, and none of it is held.
   * @throws S3ResponseError for any status that is not 2xx, S3UnavailableError when there is no answer.
   */
  async open(options: Omit<S3RequestOptions, "body" | "maxBytes">): Promise<IncomingMessage> {
    const attempt = async (): Promise<IncomingMessage> =>
      await (await this.#begin(options)).answer.catch(notAnswered);
    let response = await attempt();
    if (response.statusCode === 403 && this.#followEngine(response.headers.date)) {
      response.resume();
      response = await attempt();
    }
    const { statusCode: status = 0 } = response;
    // Who reads slowly lets it stand still.
    response.socket.setTimeout(STREAM_IDLE_MS);
    if (status >= 200 && status < 300) return response;
    response.destroy();
    throw new S3ResponseError(`Http${status}`, status, "the object store gave no object");
  }

  /** A URL that anybody who holds it may use once or often until it ends. `expiresS` is in seconds, 1 … 604800. */
  async presign(
    method: "GET" | "HEAD" | "PUT",
    path: readonly string[],
    query: Record<string, string>,
    expiresS: number,
  ): Promise<string> {
    const seconds = Math.max(1, Math.min(MAX_PRESIGN_S, Math.floor(expiresS)));
    const { url } = await new AwsV4Signer({
      method,
      url: s3UrlOf(this.#options.endpoint, path, { ...query, "X-Amz-Expires": String(seconds) })
        .href,
      signQuery: true,
      cache: keptSigningKeys(),
      datetime: this.#datetime(),
      service: "s3",
      region: this.#options.region,
      ...this.#options.credentials,
    }).sign();
    return url.href;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /**
   * Signs by the engine's clock from now on, as S3 clients do: one of the two hosts, or of two processes of one, may have had its clock set.
   * @returns whether that changes anything
   */
  #followEngine(date: string | undefined): boolean {
    const aheadMs = Date.parse(date ?? "") - this.#now();
    if (Number.isNaN(aheadMs) || Math.abs(aheadMs - this.#engineAheadMs) < CLOCKS_AGREE_MS)
      return false;
    this.#engineAheadMs = Math.abs(aheadMs) < CLOCKS_AGREE_MS ? 0 : aheadMs;
    return true;
  }

  /** As SigV4 writes it: `20261121T174500Z`. */
  #datetime(): string {
    return new Date(this.#now() + this.#engineAheadMs).toISOString().replace(/[:-]|\.\d{3}/g, "");
  }

  /** @throws S3UnavailableError */
  #begin(options: S3RequestOptions): Promise<BegunExchange> {
    const { method, path, query = {}, headers = {}, body, idleMs = this.#idleMs, signal } = options;
    const { endpoint, region, credentials } = this.#options;
    return beginS3Exchange(
      { endpoint, region, ...credentials },
      { method, path, query, headers, body: Buffer.from(body ?? "") },
      {
        ...{ idleMs, agent: this.#agent, datetime: this.#datetime() },
        ...(signal === undefined ? {} : { signal }),
      },
    );
  }
}

/** @throws S3UnavailableError */
function notAnswered(cause: unknown): never {
  throw new S3UnavailableError("the object store did not answer", { cause });
}

function isRead({ method }: S3RequestOptions): boolean {
  return method === "GET" || method === "HEAD";
}

function errorOf(response: S3Response): Error {
  const text = response.body.toString("utf8");
  try {
    const error = parseDocument(text, "Error");
    return new S3ResponseError(
      childText(error, "Code"),
      response.status,
      childText(error, "Message"),
    );
  } catch {
    if (response.status === 404) return new S3ResponseError("NoSuchKey", 404, "not found");
    return new S3ResponseError(`Http${response.status}`, response.status, text.slice(0, 200));
  }
}
