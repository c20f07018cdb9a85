/** What arrives before there is a request: TLS and HTTP that the server refuses, each with words in the form of every other error. */
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { connect, type ConnectionOptions } from "node:tls";
import t from "tap";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { makeTestCa } from "../helper/test-ca.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const ca = await makeTestCa(t.testdir({}));
const tls = { cert: readFileSync(ca.certFile, "utf8"), key: readFileSync(ca.keyFile, "utf8") };
const api = await makeTestApp(`${dir}/app`, engine, { tls });
t.teardown(() => api.close());
const port = Number(new URL(await api.app.listen({ port: 0 })).port);
const trusted = { port, host: "localhost", ca: readFileSync(ca.caFile, "utf8") } as const;

/** Everything that the server says to these bytes until it hangs up. */
async function said(bytes: string, options: ConnectionOptions = {}): Promise<string> {
  const socket = connect({ ...trusted, ...options });
  socket.write(bytes);
  return await text(socket);
}

t.test("a request that the parser refuses is answered with code, message and hint", async (t) => {
  for (const [bytes, status, code] of [
    ["FETCH / HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed"],
    ["GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", 400, "malformed_request"],
    ["nonsense\r\n\r\n", 405, "method_not_allowed"],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "headers_too_large"],
    [
      "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: more\r\nConnection: close\r\n\r\n",
      417,
      "expectation_failed",
    ],
    ["PROPFIND /api/tasks HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404, "not_found"],
  ] as const) {
    const answer = await said(bytes);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    t.match(head, `HTTP/1.1 ${status} `, bytes.slice(0, 40));
    t.match(JSON.parse(body), { code, message: String, hint: /./ }, bytes.slice(0, 40));
  }
});

t.test(
  "TLS 1.2 with a suite without AEAD or forward secrecy, and TLS 1.1, find no server",
  async (t) => {
    const agreed = (options: ConnectionOptions): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ ...trusted, ...options }, () => {
          resolve(`${socket.getProtocol()} ${socket.getCipher().standardName}`);
          socket.destroy();
        });
        socket.on("error", () => resolve("refused"));
      });
    t.match(await agreed({}), "TLSv1.3");
    t.match(await agreed({ maxVersion: "TLSv1.2" }), /TLSv1\.2 .*(GCM|POLY1305)/);
    for (const ciphers of [
      "ECDHE-ECDSA-AES256-SHA384",
      "ECDHE-RSA-AES128-SHA256",
      "AES128-GCM-SHA256",
      "ECDHE-ECDSA-AES128-SHA",
    ])
      t.equal(await agreed({ maxVersion: "TLSv1.2", ciphers }), "refused", ciphers);
    t.equal(
      await agreed({ minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
      "refused",
    );
  },
);
