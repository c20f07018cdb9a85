/** The gateway between a client and a replica: the real runner of predictors behind the real bridge of an agent, the real auditd beside it. The coordinator is scripted. */
import { spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallCounts, CallReport, type Route } from "@resontech/contracts/inference-routes";
import { reader } from "@resontech/contracts/readable";
import type { ServingConfig } from "../src/config.ts";
import type { PredictorSpec } from "@resontech/contracts/predictor-spec";
import { pino } from "pino";
import t from "tap";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { ServerBridge } from "@resontech/agent/server-bridge";
import { TestPki } from "@resontech/house/test-pki";
import { openServing } from "../src/open-serving.ts";
import { OutsideServer } from "@resontech/house/outside-server";
import { noWayOut } from "./helper/no-way-out.ts";
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";
import {
  type BatchHead,
  type CallBegun,
  type CallEnded,
  readCallLine,
} from "../src/records/call-line.ts";
import { JOURNAL_NAME } from "../src/records/call-journal.ts";

t.setTimeout(600_000);
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
class Type:
    name, kind, byteorder, itemsize = "float32", "f", "<", 4
class Array:
    """As numpy's, which the host need not have."""
    dtype, shape, nbytes, __array__ = Type, (1, 2), 8, None
    def tobytes(self):
        return bytes(range(8))
    def tolist(self):
        return [[1, 2]]
class EchoPredictor:
    def predict(self, data):
        if data == b"array":
            return {"scores": Array(), "label": "cat"}
        if data == b"slow":
            time.sleep(1.5)
        return {"said": data.decode("latin-1"), "bytes": len(data)}
`;
import { freePort } from "@resontech/house/free-port";
const inner = await freePort();
const root = join(dir, "replica");
for (const folder of ["rt/job/scripts", "rt/events"])
  mkdirSync(join(root, folder), { recursive: true });
writeFileSync(join(root, "rt/job/scripts/echo.py"), SCRIPT);
const spec: PredictorSpec = {
  formatVersion: 1,
  ...{ module: "echo", className: "EchoPredictor", initArgs: {}, modelPath: null },
  ...{ replica: "r-1", port: inner, maxOngoingRequests: 2, maxAnswerBytes: 1_000_000 },
  callLimitMs: 60_000,
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
  ...{ name: "echo", api: "predict", createdAt: 0 },
  ...{
    deployment: "job-1",
    project: "p_1",
    aliases: [],
    visibility: "PRIVATE",
    maxOngoingRequests: 2,
  },
  keySha256: createHash("sha256").update(KEY).digest("hex"),
  ...{ generation: 1, state: "HOT", wakeMs: 10_000 },
  replicas: [
    {
      ...{ member: "job-1-a1-replica", node: "node-a", host: HOST, port: outer },
      ...{ certificateSha256: sha256Of(node.certPem), isOpen: true },
    },
  ],
};
mkdirSync(join(dir, "routes"), { mode: 0o750 });
const routesSocket = join(dir, "routes", "sock");
let told: Route[] = [route];
/** What the gateway reported last. */
let reported: CallCounts | undefined;
const gateways = new Set<Socket>();
const coordinator = createServer((socket) => {
  gateways.add(socket);
  socket.on("error", () => {});
  socket.on("close", () => gateways.delete(socket));
  socket.write(`${JSON.stringify({ routes: told })}\n`);
  createInterface(socket).on("line", (line) => {
    // Numbers and usage come on lines of their own.
    const report = readReport(JSON.parse(line));
    if (report !== null) reported = report.deployments.find((one) => one.deployment === "job-1");
  });
});
const readReport = reader(CallReport);
let generation = 1;
/** The deployment is another from here on, in a generation of its own. */
function tell(change: Partial<Route>): void {
  generation += 1;
  told = [{ ...route, ...change, generation }];
  for (const socket of gateways) socket.write(`${JSON.stringify({ routes: told })}\n`);
}
async function untilReported(holds: (counts: CallCounts) => boolean): Promise<void> {
  const isSo = () =>
    reported !== undefined && reported.generation === generation && holds(reported);
  for (let tries = 0; tries < 2_500 && !isSo(); tries++) await sleep(20);
  if (!isSo()) throw new Error(`reported was ${JSON.stringify(reported)}`);
}
coordinator.listen(routesSocket);
await once(coordinator, "listening");
t.teardown(() => coordinator.close());

const auditd = new AuditdFixture(join(dir, "audit"), {
  producers: [
    {
      ...{ name: "serving", family: "serving", gid: null },
      socket: join(dir, "audit", "run", "serving.sock"),
    },
  ],
});
await auditd.makeLog();
await auditd.start();
t.teardown(() => auditd.stop("SIGKILL"));

const socketPath = join(dir, "serving.sock");
const callsDir = join(dir, "calls");
const config: ServingConfig = {
  ...{ socket: socketPath, routesSocket },
  ...{ auditSocket: auditd.socket("serving"), callsDir },
  certFile: file("gateway.pem", gateway.certPem),
  keyFile: file("gateway.key", gateway.keyPem),
  rootCertFile: pki.rootFile,
  ...noWayOut(dir),
};
/** What an earlier life began and did not end. */
const LEFT = "0b0b3f6e-6c3b-4a53-9a0c-left";
mkdirSync(callsDir);
writeFileSync(
  join(callsDir, "2026-01-01.ndjson"),
  `${JSON.stringify({
    ...{ kind: "call", id: LEFT, at: "2026-01-01T00:00:00.000Z", deployment: "job-1" },
    ...{ project: "p_1", call: "predict", replica: "r", keySha256: "0".repeat(64) },
    ...{ requestSha256: "0".repeat(64), requestBytes: 1 },
  })}\n{"kind":"call","id":"cut`,
);
const serving = await openServing(config, log);
t.teardown(() => serving[Symbol.asyncDispose]());
chmodSync(socketPath, 0o600);

type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; body: unknown };
async function call(
  path: string,
  body?: Buffer | string,
  headers: Record<string, string> = { "x-api-key": KEY },
): Promise<Answer> {
  const { bytes, ...answer } = await bytesOf(path, body, headers);
  return { ...answer, body: JSON.parse(bytes.toString("utf8")) };
}
async function bytesOf(
  path: string,
  body: Buffer | string | undefined,
  headers: Record<string, string>,
): Promise<Omit<Answer, "body"> & { bytes: Buffer }> {
  const method = body === undefined ? "GET" : "POST";
  const asked = request({ socketPath, method, path, headers });
  asked.end(body);
  const [answer] = await once(asked, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const { statusCode: status, headers: got } = answer as { statusCode: number } & Pick<
    Answer,
    "headers"
  >;
  return { status, headers: got, bytes: Buffer.concat(chunks) };
}
for (let tries = 0; tries < 1_000; tries++) {
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

t.test("arrays come as JSON, or as they are where the caller asks for safetensors", async (t) => {
  const path = "/inference/job-1/predict";
  t.match(await call(path, "array"), { body: { scores: [[1, 2]], label: "cat" } });
  const accept = "application/vnd.safetensors";
  const { status, headers, bytes } = await bytesOf(path, "array", { "x-api-key": KEY, accept });
  t.match({ status, headers }, { status: 200, headers: { "content-type": accept } });
  const length = Number(bytes.readBigUInt64LE());
  t.same(JSON.parse(bytes.subarray(8, 8 + length).toString()), {
    __metadata__: { label: '"cat"' },
    scores: { dtype: "F32", shape: [1, 2], data_offsets: [0, 8] },
  });
  t.same([...bytes.subarray(8 + length)], [0, 1, 2, 3, 4, 5, 6, 7]);
  const refused = await call(path, "{", {
    ...{ "x-api-key": KEY, "content-type": "application/json", accept },
  });
  t.match(refused, { status: 400, body: { error: { type: "invalid_request" } } });
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
  const busy = (counts: CallCounts) => counts.inFlight.reduce((sum, { calls }) => sum + calls, 0);
  const both = [1, 2].map(() => {
    const asked = request({
      ...{ socketPath, method: "POST", path: "/inference/job-1/predict" },
      headers: { "x-api-key": KEY },
    });
    asked.on("error", () => {});
    asked.end("slow");
    return asked;
  });
  await untilReported((counts) => busy(counts) === 2);
  for (const asked of both) asked.destroy();
  await untilReported((counts) => busy(counts) === 0);
  // The replica itself computes both to their end, and refuses more meanwhile.
  let answer = await call("/inference/job-1/predict", "b");
  for (let tries = 0; tries < 2_000 && answer.status === 503; tries++) {
    await sleep(50);
    answer = await call("/inference/job-1/predict", "b");
  }
  t.match(answer, { status: 200 });
});

type Batch = { head: BatchHead; texts: string[] };

function readBatches(): Batch[] {
  const batches: Batch[] = [];
  for (const name of readdirSync(callsDir)
    .filter((one) => JOURNAL_NAME.test(one))
    .sort())
    for (const text of readFileSync(join(callsDir, name), "utf8").split("\n")) {
      const line = readCallLine(text);
      if (line?.kind === "batch") batches.push({ head: line, texts: [] });
      else if (line !== null) batches.at(-1)?.texts.push(text);
    }
  return batches;
}
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const linesOf = (kind: "call" | "end") =>
  readBatches()
    .flatMap(({ texts }) => texts.map(readCallLine))
    .filter((line) => line?.kind === kind);

t.test("each call is in a batch whose root the audit log has", async (t) => {
  const [question, before] = ["what is on record", linesOf("call").length];
  const { body } = await call("/inference/job-1/predict", question);
  const begun = linesOf("call").slice(before) as CallBegun[];
  t.equal(begun.length, 1, "durable when the answer is there");
  t.match(begun[0], {
    ...{ deployment: "job-1", project: "p_1", replica: "job-1-a1-replica" },
    ...{ keySha256: route.keySha256, requestSha256: sha256(question) },
    requestBytes: question.length,
  });
  const endOf = () => (linesOf("end") as CallEnded[]).find(({ id }) => id === begun[0]?.id);
  for (let tries = 0; tries < 5_000 && endOf() === undefined; tries++) await sleep(20);
  const ended = endOf();
  t.match(ended, {
    ...{ outcome: "answered", status: 200, answerSha256: sha256(JSON.stringify(body)) },
  });
  t.match(
    linesOf("end").find((line) => line?.kind === "end" && line.id === LEFT),
    { outcome: "gateway_ended", status: null },
    "what an earlier life left open is closed",
  );
  const readSaid = async () =>
    (await readLeaves(auditd.logDir)).filter(({ type }) => type === "model.calls");
  let said = await readSaid();
  for (let tries = 0; tries < 5_000 && said.length < readBatches().length; tries++) {
    await sleep(20);
    said = await readSaid();
  }
  const roots = new Map(said.map(({ detail }) => [detail?.["batch"], detail]));
  for (const { head, texts } of readBatches()) {
    const tree = new Frontier();
    for (const text of texts) tree.append(hashLeaf(Buffer.from(text)));
    t.equal(tree.root().toString("hex"), head.root);
    t.match(roots.get(head.id), { root: head.root, lines: texts.length });
  }
  t.notMatch(JSON.stringify(said), question);
});

t.test("a predictor gets the bytes behind a url, and its answer is posted", async (t) => {
  await using outside = await OutsideServer.open({
    cert: readFileSync(pki.serverCertFile, "utf8"),
    key: readFileSync(pki.serverKeyFile, "utf8"),
  });
  outside.answer = (response) => void response.end("from outside");
  file("outbound.json", JSON.stringify({ formatVersion: 1, hosts: [outside.allowed] }));
  tell({ callback: { url: outside.url("/hook"), secret: "5".repeat(64) } });
  await untilReported(() => true);
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  const named = JSON.stringify({ url: outside.url("/data") });
  const said = { said: "from outside", bytes: 12 };
  t.match(await call("/inference/job-1/predict", named, headers), { status: 200, body: said });
  for (let tries = 0; tries < 2_000 && readdirSync(config.callbacksDir).length > 0; tries++)
    await sleep(20);
  t.match(outside.heard, [
    { method: "GET", path: "/data" },
    { method: "POST", path: "/hook" },
  ]);
  t.same(JSON.parse(outside.heard[1]?.body ?? ""), said);
  const inside = JSON.stringify({ url: "https://127.0.0.1/" });
  t.match(await call("/inference/job-1/predict", inside, headers), {
    ...{ status: 400, body: { error: { type: "url_not_allowed" } } },
  });
  tell({});
  await untilReported(() => true);
});

t.test("while auditd is silent no byte of an answer leaves", async (t) => {
  process.kill(auditd.pid, "SIGSTOP");
  t.teardown(() => process.kill(auditd.pid, "SIGCONT"));
  t.match(await call("/inference/job-1/predict", "unseen"), {
    ...{ status: 503, headers: { "retry-after": "5" } },
    body: { error: { type: "audit_unavailable" } },
  });
  process.kill(auditd.pid, "SIGCONT");
  let answer = await call("/inference/job-1/predict", "seen");
  for (let tries = 0; tries < 500 && answer.status !== 200; tries++) {
    await sleep(100);
    answer = await call("/inference/job-1/predict", "seen");
  }
  t.equal(answer.status, 200, "and it answers again");
});

t.test("a call waits for the wake, and the coordinator knows of it", async (t) => {
  tell({ state: "COLD", replicas: [] });
  await untilReported(({ queued }) => queued === 0);
  t.match(await call("/inference/job-1/health", undefined, {}), {
    ...{ status: 200, body: { status: "cold" } },
  });
  const waiting = [1, 2, 3].map((n) => call("/inference/job-1/predict", `wake ${n}`));
  await untilReported(({ queued }) => queued === 3);
  tell({ state: "WAKING", replicas: [] });
  await untilReported(({ queued }) => queued === 3);
  tell({});
  t.same(
    (await Promise.all(waiting)).map(({ status, body }) => ({ status, body })),
    [1, 2, 3].map((n) => ({ status: 200, body: { said: `wake ${n}`, bytes: 6 } })),
  );
  await untilReported(
    ({ queued, inFlight, idleMs }) => queued + inFlight.length === 0 && idleMs! >= 0,
  );
});

t.test("a wake that takes too long is told, and so is one that can't be", async (t) => {
  tell({ state: "WAKING", replicas: [], wakeMs: 300 });
  await untilReported(() => true);
  const began = performance.now();
  t.match(await call("/inference/job-1/predict", "a"), {
    ...{ status: 503, headers: { "retry-after": "1" } },
    body: { error: { type: "still_waking" } },
  });
  const tookMs = performance.now() - began;
  t.ok(tookMs >= 4_990, `${tookMs}`);

  tell({ state: "WAKING", replicas: [], wakeMs: 30_000 });
  const waiting = call("/inference/job-1/predict", "a");
  await untilReported(({ queued }) => queued === 1);
  tell({ state: "FAILED", replicas: [] });
  const failed = { status: 503, body: { error: { type: "load_failed" } } };
  t.match(await waiting, { ...failed, headers: { "retry-after": "60" } });
  t.match(await call("/inference/job-1/predict", "a"), failed, "the next one at once");
  t.match(await call("/inference/job-1/health", undefined, {}), failed);
});

t.test("so many wait and no more, and who hangs up waits no longer", async (t) => {
  tell({ state: "COLD", replicas: [] });
  await untilReported(() => true);
  const asked = Array.from({ length: 257 }, () => {
    const one = request({
      ...{ socketPath, method: "POST", path: "/inference/job-1/predict" },
      headers: { "x-api-key": KEY },
    });
    one.on("error", () => {});
    one.end("a");
    return one;
  });
  const [refused] = await Promise.race(asked.map((one) => once(one, "response")));
  t.match(refused, { statusCode: 429, headers: { "retry-after": "10" } });
  await untilReported(({ queued }) => queued === 256);
  for (const one of asked) one.destroy();
  await untilReported(({ queued }) => queued === 0);
});

t.test("a closed replica ends what it has and is given nothing new", async (t) => {
  tell({});
  const slow = call("/inference/job-1/predict", "slow");
  await untilReported(({ inFlight }) => inFlight.length === 1);
  const replicas = route.replicas.map((one) => ({ ...one, isOpen: false }));
  tell({ state: "DRAINING", replicas });
  await untilReported(({ inFlight }) => inFlight.length === 1);
  const next = call("/inference/job-1/predict", "next");
  t.match(await slow, { status: 200 });
  await untilReported(({ queued, inFlight }) => queued === 1 && inFlight.length === 0);
  tell({});
  t.match(await next, { status: 200, body: { said: "next" } });
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
