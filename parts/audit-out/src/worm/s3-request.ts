/** One signed request to an S3 store: SigV4 by aws4fetch, sent by Node, bounded in time and size. */
import { createHash } from "node:crypto";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { AwsV4Signer } from "aws4fetch";

export type S3Store = {
  /** Scheme, name and port. */
  endpoint: string;
  region: string;
  bucket: string;
  /** PEM; the system's authorities where it is not given. */
  ca?: string;
  accessKeyId: string;
  secretAccessKey: string;
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
export type S3Answer = {
  status: number;
  headers: IncomingMessage["headers"];
  body: Buffer;
  code: string;
};

const IDLE_MS = 30_000;
const MAX_ANSWER_BYTES = 8_388_608;

export async function callS3(
  { endpoint, region, bucket, ca, ...credentials }: S3Store,
  call: S3Call,
  signal: AbortSignal,
): Promise<S3Answer> {
  const body = call.body ?? Buffer.alloc(0);
  const url = new URL(`${endpoint}/${bucket}${call.key === "" ? "" : `/${call.key}`}`);
  url.search = new URLSearchParams(call.query).toString();
  const signed = await new AwsV4Signer({
    ...{ method: call.method, url: url.href, service: "s3", region, ...credentials },
    headers: {
      ...call.headers,
      "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
    },
  }).sign();
  const { promise, resolve, reject } = Promise.withResolvers<S3Answer>();
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const headers = { ...Object.fromEntries(signed.headers), "content-length": String(body.length) };
  const sent = send(signed.url, {
    method: call.method,
    headers,
    timeout: IDLE_MS,
    signal,
    ...(ca === undefined ? {} : { ca }),
  });
  sent.on("timeout", () => sent.destroy(new Error(`the store was silent for ${IDLE_MS} ms`)));
  sent.on("error", reject);
  sent.on("response", (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES)
        sent.destroy(new Error(`the store's answer is longer than ${MAX_ANSWER_BYTES} bytes`));
      else chunks.push(chunk);
    });
    response.on("error", reject);
    response.on("end", () => {
      const answer = Buffer.concat(chunks);
      const [, code = ""] =
        /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(answer.toString("utf8", 0, 4_096)) ?? [];
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer, code });
    });
  });
  sent.end(body);
  return promise;
}
