/** The real S3 engine, with the requests that the coordinator would make: presigned URLs, multiparts opened and completed. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import { AwsV4Signer } from "aws4fetch";
import { startEngine, stopEngine } from "@resontech/house/engine-process";
import type { TestPki } from "@resontech/house/test-pki";
import { freePort } from "@resontech/house/free-port";

const KEYS = { accessKeyId: "TESTADMIN", secretAccessKey: "test-secret-of-the-admin" };
const BUCKET = "bucket";

export class TestObjectStore {
  readonly #endpoint: string;
  readonly #ca: Buffer;
  /** Where the engine keeps each object as a file. */
  readonly #folder: string;
  readonly #stop: () => Promise<void>;

  private constructor(endpoint: string, ca: Buffer, folder: string, stop: () => Promise<void>) {
    this.#endpoint = endpoint;
    this.#ca = ca;
    this.#folder = folder;
    this.#stop = stop;
  }

  static async start(dir: string, pki: TestPki, host: string): Promise<TestObjectStore> {
    const port = await freePort(host);
    const [objects, iam] = [join(dir, "s3"), join(dir, "s3-iam")];
    for (const folder of [objects, iam]) mkdirSync(folder);
    const ca = readFileSync(pki.rootFile);
    const endpoint = `https://${host}:${port}`;
    const child = await startEngine(
      await ensureEngine("s3"),
      [
        ...[
          "--port",
          `${host}:${port}`,
          "--region",
          "garage",
          "--iam-dir",
          iam,
          "--health",
          "/healthz",
          "--quiet",
        ],
        ...["--cert", pki.serverCertFile, "--key", pki.serverKeyFile, "posix", objects],
      ],
      {
        env: { ROOT_ACCESS_KEY_ID: KEYS.accessKeyId, ROOT_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
      },
      async () => (await exchange(new URL("/healthz", endpoint), "GET", {}, "", ca)).status === 200,
    );
    const store = new TestObjectStore(endpoint, ca, objects, () => stopEngine(child));
    await store.#send("PUT", "");
    return store;
  }

  /** Answers the object's ETag as the engine gives it. */
  async put(key: string, body: string | Uint8Array): Promise<string> {
    const { headers } = await this.#send("PUT", `/${key}`, {}, body);
    return headers["etag"] ?? "";
  }

  async get(key: string): Promise<string | null> {
    const { status, body } = await this.#send("GET", `/${key}`, {}, "", [404]);
    return status === 404 ? null : body;
  }

  /** Of an object that is there, also where it is no text. */
  bytes(key: string): Buffer {
    return readFileSync(join(this.#folder, BUCKET, key));
  }

  async presign(
    method: "GET" | "PUT",
    key: string,
    query: Record<string, string> = {},
    expiresS = 3600,
  ): Promise<string> {
    const url = this.#url(`/${key}`, { ...query, "X-Amz-Expires": String(expiresS) });
    return (
      await new AwsV4Signer({
        method,
        url,
        signQuery: true,
        service: "s3",
        region: "garage",
        ...KEYS,
      }).sign()
    ).url.href;
  }

  async openUpload(key: string): Promise<string> {
    const { body } = await this.#send("POST", `/${key}`, { uploads: "" });
    return /<UploadId>([^<]+)/.exec(body)?.[1] ?? "";
  }

  async completeUpload(key: string, uploadId: string, etags: readonly string[]): Promise<void> {
    const parts = etags
      .map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`)
      .join("");
    await this.#send(
      "POST",
      `/${key}`,
      { uploadId },
      `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`,
    );
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  #url(path: string, query: Record<string, string>): string {
    const url = new URL(`${this.#endpoint}/${BUCKET}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  }

  async #send(
    method: string,
    path: string,
    query: Record<string, string> = {},
    body: string | Uint8Array = "",
    accept: number[] = [],
  ) {
    const signed = await new AwsV4Signer({
      method,
      url: this.#url(path, query),
      headers: { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") },
      service: "s3",
      region: "garage",
      ...KEYS,
    }).sign();
    const answer = await exchange(
      signed.url,
      method,
      Object.fromEntries(signed.headers),
      body,
      this.#ca,
    );
    if (answer.status >= 300 && !accept.includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return answer;
  }
}

async function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
  ca: Buffer,
) {
  return await new Promise<{ status: number; headers: Record<string, string>; body: string }>(
    (resolve, reject) => {
      const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
      const asked = request(
        url,
        { method, ca, headers: { ...headers, "content-length": length } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.once("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers as Record<string, string>,
              body: Buffer.concat(chunks).toString("utf8"),
            }),
          );
        },
      );
      asked.once("error", reject);
      asked.end(body);
    },
  );
}
