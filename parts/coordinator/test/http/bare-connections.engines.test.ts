/** What arrives before there is a request: HTTP that the server refuses, each with words in the form of every other error. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t from "tap";
import { listenOnSocket } from "../../src/http/listen-on-socket.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
// Short: a socket's path may have 107 bytes.
const sockets = mkdtempSync(join(tmpdir(), "rtb-"));
t.teardown(() => rmSync(sockets, { recursive: true }));
const path = join(sockets, "sock");
await listenOnSocket(api.app, path);

/** Everything that the server says to these bytes until it hangs up. */
async function said(bytes: string): Promise<string> {
  const socket = connect(path);
  socket.write(bytes);
  return await text(socket);
}

t.test("a method that no route has is the caller's fault, with and without a body", async (t) => {
  const body = "Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx";
  const empty = "Content-Length: 0\r\n\r\n";
  for (const method of ["QUERY", "SEARCH", "M-SEARCH", "LINK", "TRACE", "MKCOL", "PURGE"])
    for (const rest of [body, empty, "\r\n"]) {
      const answer = await said(
        `${method} /api/tasks HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}`,
      );
      const [head = "", json = ""] = answer.split("\r\n\r\n");
      t.match(head, /^HTTP\/1.1 4\d\d /, `${method} ${rest.slice(0, 12)}`);
      t.match(JSON.parse(json), { code: String, message: String, hint: /./ }, method);
    }
});

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
