/**
 * Stands between tests of S3 and the door, and plays the owner of buckets. Here the coordinator makes buckets, versioned and with its policy; tests make
 * their own. So the proxy makes and removes those that they ask for, and hands all else on as it came, for the signature covers it.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer, request, type Server } from "node:https";
import { buffer } from "node:stream/consumers";
import { S3ResponseError } from "@resontech/coordinator/s3-transport";
import type { RunningFront } from "@resontech/s3-front/testing/running-front";
import type { FrontUser } from "@resontech/coordinator/testing/front-world";

/** What a new bucket may be asked to be. */
const OF_BUCKETS = ["x-amz-bucket-object-lock-enabled", "x-amz-object-ownership"];
/** As the tests name those that they expect to get. */
const BUCKET = /^\/(test-bucket-\d+)\/?$/;

export class OwnerProxy implements AsyncDisposable {
  readonly #front: RunningFront;
  readonly #user: FrontUser;
  readonly #made = new Set<string>();
  readonly #server: Server;

  private constructor(front: RunningFront, user: FrontUser) {
    this.#front = front;
    this.#user = user;
    const { certFile, keyFile } = front.ca;
    this.#server = createServer(
      { cert: readFileSync(certFile), key: readFileSync(keyFile) },
      (request, response) => void this.#take(request, response),
    );
    this.#server.on("checkContinue", (request, response) => void this.#take(request, response));
    // A test that leaves a body half sent is one of what it tries.
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  static async start(front: RunningFront, user: FrontUser): Promise<OwnerProxy> {
    const proxy = new OwnerProxy(front, user);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get endpoint(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it does not listen");
    return `https://127.0.0.1:${address.port}`;
  }

  /** What a test left behind. */
  removeBuckets(): void {
    for (const bucket of this.#made) this.#remove(bucket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #take(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { pathname, searchParams } = new URL(asked.url ?? "/", "https://door");
      const bucket = BUCKET.exec(pathname)?.[1];
      const isWhole = [...searchParams.keys()].every((name) => name === "x-id");
      if (bucket === undefined || !isWhole) this.#handOn(asked, response);
      else if (asked.method === "PUT" && !this.#made.has(bucket)) {
        await this.#make(bucket, asked.headers, await buffer(asked));
        response.writeHead(200, { location: `/${bucket}` }).end();
      } else if (asked.method === "DELETE" && this.#made.has(bucket)) {
        this.#remove(bucket);
        response.writeHead(204).end();
      } else this.#handOn(asked, response);
    } catch (error) {
      if (!(error instanceof S3ResponseError)) response.destroy();
      else
        response
          .writeHead(error.status)
          .end(`<Error><Code>${error.code}</Code><Message>${error.message}</Message></Error>`);
    }
  }

  /** As it is asked for, and all of it for the user's pair: what members may do is no question of S3. */
  async #make(bucket: string, headers: IncomingHttpHeaders, body: Buffer): Promise<void> {
    const asked = Object.entries(headers).flatMap(([name, value]) =>
      OF_BUCKETS.includes(name) && typeof value === "string" ? [[name, value]] : [],
    );
    const { transport, store } = this.#front;
    const request = { method: "PUT", path: [bucket], body } as const;
    await transport.send({
      ...request,
      headers: Object.fromEntries(asked) as Record<string, string>,
    });
    this.#made.add(bucket);
    await store.setBucketPolicy(bucket, {
      Statement: [
        {
          ...{ Effect: "Allow", Action: "s3:*", Principal: { AWS: [this.#user.keys.accessKeyId] } },
          Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
        },
      ],
    });
  }

  #remove(bucket: string): void {
    this.#front.dropBucket(bucket);
    this.#made.delete(bucket);
  }

  #handOn(asked: IncomingMessage, response: ServerResponse): void {
    const { port } = new URL(this.#front.endpoint);
    const options = { host: "localhost", port, ca: this.#front.caPem, agent: false };
    const sent = request({ ...options, method: asked.method, path: asked.url, setHost: false });
    for (let at = 0; at < asked.rawHeaders.length; at += 2) {
      const [name, value] = asked.rawHeaders.slice(at, at + 2) as [string, string];
      sent.appendHeader(name, value);
    }
    sent.on("continue", () => response.writeContinue());
    sent.on("error", (error) => response.destroy(error));
    sent.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    asked.pipe(sent);
  }
}
