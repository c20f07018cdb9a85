/** What a client reads that sends the whole of its body before it listens: boto3, s3cmd and most others do. */
import { connect, type TLSSocket } from "node:tls";
import t from "tap";
import type { S3Credentials } from "@resontech/coordinator/s3-transport";
import { RunningFront } from "./helper/running-front.ts";
import { headText, signedHeaders } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser(50 * 1024 ** 2);
await front.storeOf(user).put(user.bucket, "there", "x", "text/plain");
const wrong = { ...user.keys, secretAccessKey: "x".repeat(40) };
const MIB = 1024 ** 2;

/** @returns all that came back, or the error that the connection ended with before a whole answer came */
async function sendThenListen(head: string, body: Buffer, isPatient: boolean): Promise<string> {
  const socket: TLSSocket = connect({
    ...{
      host: "127.0.0.1",
      port: front.config.listen.port,
      ca: front.caPem,
      servername: "localhost",
    },
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  const listen = (): void => {
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      if (received.endsWith("HTTP/1.1 100 Continue\r\n\r\n")) socket.write(body);
      if (received.includes("</Error>")) resolve(received);
    });
  };
  socket.on("error", (error) => resolve(`${error.message} after: ${received}`));
  socket.on("close", () => resolve(`closed after: ${received}`));
  socket.write(head);
  if (isPatient) listen();
  else socket.write(body, listen);
  const answer = await promise;
  socket.destroy();
  return answer;
}

type Case = {
  what: string;
  keys: S3Credentials;
  key: string;
  extra: Record<string, string>;
  status: number;
  code: string;
  sizes?: number[];
};
const cases: Case[] = [
  {
    what: "a wrong secret",
    keys: wrong,
    key: "x",
    extra: {},
    status: 403,
    code: "SignatureDoesNotMatch",
  },
  {
    what: "a condition",
    keys: user.keys,
    key: "there",
    extra: { "if-none-match": "*" },
    status: 412,
    code: "PreconditionFailed",
  },
  {
    what: "a key below an object",
    keys: user.keys,
    key: "there/x",
    extra: {},
    status: 409,
    code: "ObjectParentIsFile",
  },
  {
    what: "the quota",
    keys: user.keys,
    key: "x",
    extra: {},
    status: 403,
    code: "QuotaExceeded",
    sizes: [60 * MIB],
  },
];
const SIZES = [20, 300 * 1024, 3 * MIB, 20 * MIB];

for (const { what, keys, key, extra, status, code, sizes = SIZES } of cases)
  for (const expect of [null, "100-continue", "100-Continue"])
    t.test(
      `an upload refused for ${what} is answered so, ${expect === null ? "unasked" : `after ${expect}`}`,
      async (t) => {
        for (const length of sizes) {
          const path = `/${user.bucket}/${key}`;
          const headers = await signedHeaders(front, keys, "PUT", path, extra);
          const head = headText(`PUT ${path}`, {
            ...{ ...headers, "content-length": String(length) },
            ...(expect === null ? {} : { expect }),
          });
          const answer = await sendThenListen(head, Buffer.alloc(length, 7), expect !== null);
          t.match(
            answer,
            new RegExp(`HTTP/1\\.1 ${status} [\\s\\S]*<Code>${code}</Code>`),
            `${length} bytes`,
          );
        }
      },
    );
