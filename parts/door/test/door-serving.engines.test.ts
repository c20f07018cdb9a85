/** Calls of deployments pass the real HAProxy: bodies and answers piece by piece, and the end of a client at once. */
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect as connectH2 } from "node:http2";
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { makeTestCa } from "@resontech/house/test-ca";
import { ask } from "./helper/ask.ts";
import { coordinatorAt, end } from "./helper/back-ends.ts";
import { RunningDoor } from "./helper/running-door.ts";

const dir = t.testdir({ pki: {}, run: {} });
const certificates = await makeTestCa(`${dir}/pki`);
const sockets = ["coordinator", "serving"].map((name) => `/tmp/rt-ds-${name}-${process.pid}.sock`);
const [coordinatorSocket = "", servingSocket = ""] = sockets;
t.teardown(() => sockets.map((socket) => rmSync(socket, { force: true })));
const coordinator = await coordinatorAt(coordinatorSocket);
t.teardown(() => end(coordinator));

/** Answers with what came; `/v1/drip` gives a piece every 50 ms, `/v1/hang` nothing at all. */
const serving = createServer((asked, response) => void answer(asked, response));
let gone = 0;
let firstPieces = 0;
async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  response.once("close", () => (gone += response.writableFinished ? 0 : 1));
  asked.once("data", () => (firstPieces += 1));
  let bytes = 0;
  for await (const piece of asked) bytes += (piece as Buffer).length;
  if (asked.url === "/v1/hang") return;
  if (asked.url !== "/v1/drip")
    return void response.end(JSON.stringify({ url: asked.url, headers: asked.headers, bytes }));
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let piece = 0; piece < 200 && !response.destroyed; piece++) {
    response.write(`data: ${piece}\n\n`);
    await sleep(50);
  }
  response.end();
}
serving.listen(servingSocket);
await once(serving, "listening");
t.teardown(() => end(serving));
const door = await RunningDoor.start(`${dir}/run`, certificates, {
  coordinatorSocket,
  servingSocket,
});
t.teardown(() => door[Symbol.asyncDispose]());
const at = { port: door.port, caFile: certificates.caFile };
const open = (path: string, headers: Record<string, string> = {}) => {
  const asked = request({
    ...{ host: "localhost", port: door.port, path, method: "POST", agent: false },
    ...{ ca: readFileSync(certificates.caFile), headers },
  });
  asked.on("error", () => {});
  return asked;
};
const isSoon = async (reached: () => boolean) => {
  const until = performance.now() + 1_000;
  while (!reached() && performance.now() < until) await sleep(20);
  return reached();
};

t.test(
  "they go to the gateway, without cookies, and from where is the door's to say",
  async (t) => {
    const headers = { cookie: "__Host-rt=1", "x-rt-peer": "1.2.3.4", authorization: "Bearer k" };
    for (const path of ["/v1/models", "/inference/job-1/predict", "/inference/job-1/v1/models"]) {
      const { status, body } = await ask(at, path, { headers });
      t.equal(status, 200);
      t.match(JSON.parse(body), {
        url: path,
        headers: { authorization: "Bearer k", "x-rt-peer": "127.0.0.1", cookie: undefined },
      });
    }
    for (const path of ["/v1", "/v12/models", "/inference", "/api/v1/models"])
      t.match(JSON.parse((await ask(at, path)).body), { server: "coordinator" }, path);
    t.equal((await ask(at, "/v1/../api/x")).status, 404);
  },
);

t.test("a body of any length goes on before it is whole", async (t) => {
  const before = firstPieces;
  const asked = open("/v1/chat/completions", { "content-length": "5000000" });
  asked.write(Buffer.alloc(2_000_000));
  t.ok(await isSoon(() => firstPieces > before), "its first piece came");
  asked.end(Buffer.alloc(3_000_000));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let body = "";
  for await (const piece of response.setEncoding("utf8")) body += piece as string;
  t.match(JSON.parse(body), { bytes: 5_000_000 });
});

t.test("a stream comes piece by piece, and its client's end is known at once", async (t) => {
  for (const path of ["/v1/drip", "/v1/hang"]) {
    const before = gone;
    const asked = open(path);
    asked.end("{}");
    if (path === "/v1/drip") {
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      const [piece] = (await once(response, "data")) as [Buffer];
      t.equal(String(piece), "data: 0\n\n");
    } else await sleep(200);
    asked.destroy();
    t.ok(await isSoon(() => gone > before), `${path} over HTTP/1.1`);
  }
  const session = connectH2(`https://localhost:${door.port}`, { ca: readFileSync(at.caFile) });
  t.teardown(() => session.destroy());
  for (const path of ["/v1/drip", "/v1/hang"]) {
    const before = gone;
    const stream = session.request({ ":path": path, ":method": "POST" });
    stream.on("error", () => {});
    stream.end("{}");
    await (path === "/v1/drip" ? once(stream, "data") : sleep(200));
    stream.close();
    t.ok(await isSoon(() => gone > before), `${path} over HTTP/2`);
  }
});

t.test("while the gateway is away, the answer has the form that its callers read", async (t) => {
  await end(serving);
  const { status, headers, body } = await ask(at, "/v1/models");
  t.match({ status, headers }, { status: 503, headers: { "retry-after": "2" } });
  t.match(JSON.parse(body), {
    error: { type: "server_error", param: null, code: "restarting", message: String },
  });
});
