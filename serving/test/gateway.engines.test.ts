/** The gateway between a client and a replica: the real runner of predictors behind the real bridge of an agent. The coordinator is scripted. */
import { spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Route } from "@resontech/contracts/inference-routes";
import type { PredictorSpec } from "@resontech/contracts/predictor-spec";
import { pino } from "pino";
import t from "tap";
import { ServerBridge } from "../../agent/src/substrate/container-host/network/server-bridge.ts";
import { freePort } from "../../agent/test/helper/engine-process.ts";
import { TestPki } from "../../agent/test/helper/pki.ts";
import { openServing } from "../src/open-serving.ts";

t.setTimeout(60_000);
const HOST = "127.0.0.1";
const KEY = "rpk_the-key-of-this-test";
const dir = mkdtempSync(join(tmpdir(), "rts-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const log = pino({ level: "silent" });
const pki = await TestPki.make(join(dir, "pki"), HOST);
const [node, gateway] = [await pki.identity("node-a"), await pki.identity("gateway")];
const sha256Of = (pem: string) =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text, { mode: 0o600 });
  return join(dir, name);
};

const SCRIPT = `
import time
class EchoPredictor:
    def predict(self, data):
        if data == b"slow":
            time.sleep(1.5)
        return {"said": data.decode("latin-1"), "bytes": len(data)}
`;
const inner = await freePort();
const root = join(dir, "replica");
for (const folder of ["rt/job/scripts", "rt/events"])
  mkdirSync(join(root, folder), { recursive: true });
writeFileSync(join(root, "rt/job/scripts/echo.py"), SCRIPT);
const spec: PredictorSpec = {
  formatVersion: 1,
  ...{ module: "echo", className: "EchoPredictor", initArgs: {}, modelPath: null },
  ...{ replica: "r-1", port: inner, maxOngoingRequests: 2, maxAnswerBytes: 1_000_000 },
};
writeFileSync(join(root, "rt/job/predictor.json"), JSON.stringify(spec));
const runners = join(import.meta.dirname, "..", "..", "agent", "runners");
const program = `import sys, pathlib; sys.path.insert(0, ${JSON.stringify(runners)})
from resontech_predictor.main import main
sys.exit(main(pathlib.Path(${JSON.stringify(root)})))`;
const replica = spawn("python3", ["-u", "-c", program], { stdio: "ignore" });
t.teardown(() => replica.kill("SIGKILL"));

const outer = await freePort();
const bridge = await ServerBridge.listen({
  ...{ attempt: "a", listen: { host: HOST, port: outer }, target: { host: HOST, port: inner } },
  ...{ gateway: HOST, peers: [{ node: "gateway", certificateSha256: sha256Of(gateway.certPem) }] },
  ...{ identity: { ...node, rootCertPem: pki.rootPem }, log },
});
t.teardown(() => bridge.close());

const route: Route = {
  ...{ deployment: "job-1", project: "p_1", visibility: "PRIVATE", maxOngoingRequests: 2 },
  keySha256: createHash("sha256").update(KEY).digest("hex"),
  replicas: [
    {
      ...{ member: "job-1-a1-replica", node: "node-a", host: HOST, port: outer },
      certificateSha256: sha256Of(node.certPem),
    },
  ],
};
mkdirSync(join(dir, "routes"), { mode: 0o750 });
const routesSocket = join(dir, "routes", "sock");
let told: Route[] = [route];
const coordinator = createServer((socket) => {
  socket.on("error", () => {});
  socket.write(`${JSON.stringify({ routes: told })}\n`);
});
coordinator.listen(routesSocket);
await once(coordinator, "listening");
t.teardown(() => coordinator.close());

const socketPath = join(dir, "serving.sock");
const serving = await openServing(
  {
    ...{ socket: socketPath, routesSocket, logLevel: "silent" },
    certFile: file("gateway.pem", gateway.certPem),
    keyFile: file("gateway.key", gateway.keyPem),
    rootCertFile: pki.rootFile,
  },
  log,
);
t.teardown(() => serving[Symbol.asyncDispose]());
chmodSync(socketPath, 0o600);

type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; body: unknown };
async function call(
  path: string,
  body?: Buffer | string,
  headers: Record<string, string> = { "x-api-key": KEY },
): Promise<Answer> {
  const method = body === undefined ? "GET" : "POST";
  const asked = request({ socketPath, method, path, headers });
  asked.end(body);
  const [answer] = await once(asked, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return {
    ...{ status: answer.statusCode, headers: answer.headers },
    body: JSON.parse(Buffer.concat(chunks).toString("utf8")),
  };
}
for (let tries = 0; tries < 100; tries++) {
  if ((await call("/inference/job-1/health")).status === 200) break;
  await sleep(100);
}

t.test("a call reaches the predictor and comes back, whichever way the key is shown", async (t) => {
  const headers = { "x-api-key": KEY, "x-request-id": "r-7", "content-type": "image/png" };
  t.match(await call("/inference/job-1/predict", "hello", headers), {
    status: 200,
    headers: { "x-request-id": "r-7", "x-replica-id": "r-1" },
    body: { said: "hello", bytes: 5 },
  });
  t.match(await call("/inference/job-1/predict", "a", { authorization: `Bearer ${KEY}` }), {
    status: 200,
  });
  const large = Buffer.alloc(20_000_000, 1);
  t.match(await call("/inference/job-1/predict", large), { status: 500 }, "its answer is too long");
  t.match(await call("/inference/job-1/health", undefined, {}), { body: { status: "ok" } });
});

t.test("without the key, a deployment that is there is told from none by nobody", async (t) => {
  const refused = { status: 401, body: { error: { type: "auth_error" } } };
  for (const path of ["/inference/job-1/predict", "/inference/job-2/predict"]) {
    t.match(await call(path, "a", {}), refused);
    t.match(await call(path, "a", { "x-api-key": "rpk_another" }), refused);
  }
  t.match(await call("/inference/job-2/predict", "a"), refused, "the key is of another");
});

t.test("only what is a call is led on, and no path is decoded", async (t) => {
  for (const path of [
    ...["/inference/job-1/predict/..", "/inference/job-1%2Fpredict", "/inference/job-1/admin"],
    ...["/inference//predict", "/health"],
  ])
    t.match(await call(path, "a"), { status: 404 }, path);
});

t.test("a replica takes so many calls at once, and the next one waits briefly", async (t) => {
  const began = performance.now();
  const all = await Promise.all(
    Array.from({ length: 4 }, () => call("/inference/job-1/predict", "slow")),
  );
  t.same(new Set(all.map(({ status }) => status)), new Set([200]));
  t.ok(performance.now() - began > 2_500, "two and then two");
});

t.test("a client that hangs up frees its place", async (t) => {
  for (let turn = 0; turn < 2; turn++) {
    const asked = request({
      ...{ socketPath, method: "POST", path: "/inference/job-1/predict" },
      headers: { "x-api-key": KEY },
    });
    asked.on("error", () => {});
    asked.end("slow");
    await sleep(100);
    asked.destroy();
  }
  await sleep(1_600);
  t.match(await call("/inference/job-1/predict", "b"), { status: 200 });
});

t.test(
  "a replica that is gone is told as such, and a node that is another is not believed",
  async (t) => {
    await bridge.close();
    t.match(await call("/inference/job-1/predict", "a"), {
      ...{ status: 502, headers: { "retry-after": "1" } },
      body: { error: { type: "replica_unreachable" } },
    });
    told = [];
  },
);
