/** The whole way of a call to a container of the customer's own: the real gateway, a real agent and its bridge, a real container of a real image. */
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  CONTAINER_COMMAND,
  CONTAINER_DOOR,
  CONTAINER_SPEC,
  type ContainerSpec,
} from "@resontech/contracts/container-spec";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { writeHttpImage } from "@resontech/house/image-layout";
import { TestNode } from "@resontech/agent/testing/test-node";
import { TestSite } from "@resontech/agent/testing/test-site";
import { RunningGateway } from "./helper/running-gateway.ts";
import { freePort } from "@resontech/house/free-port";

t.setTimeout(600_000);
const HOST = "127.0.0.1";
const KEY = "rpk_the-key-of-this-test";
const MIB = 1024 ** 2;
const dir = mkdtempSync(join(tmpdir(), "rts-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const site = await TestSite.start(["node-a"]);
t.teardown(() => site[Symbol.asyncDispose]());
const node = await TestNode.join(site, "node-a", HOST, null);
t.teardown(() => node[Symbol.asyncDispose]());
const gateway = await site.pki.identity("gateway");
const sha256Of = (pem: string) =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();

await writeHttpImage(dir, join(dir, "image"));
const image = node.image.add(join(dir, "image"));
node.run();
await untilFound("registration", () => node.peer.registrations.length === 1);
const spec: ContainerSpec = {
  ...{ formatVersion: 1, command: ["./http-program"], directory: "/srv", port: 8080 },
  ...{ door: CONTAINER_DOOR, health: "/healthz", callLimitMs: 60_000 },
};
const port = await freePort();
const peers = [{ node: "gateway", certificateSha256: sha256Of(gateway.certPem) }];
const member = node.member("own", { kind: "server" }, [], {
  ...{ image, wish: { order: 0, asleep: false }, bridge: { kind: "listen", port, peers } },
  resources: { memoryBytes: 128 * MIB, diskBytes: 16 * MIB },
});
node.peer.want({
  ...member,
  payload: {
    command: [...CONTAINER_COMMAND],
    environment: { PATH: "/usr/bin", PORT: "8080" },
    files: [{ name: CONTAINER_SPEC, text: JSON.stringify(spec) }],
    certificates: null,
    network: { shape: "hub", index: null, name: "replica", port: CONTAINER_DOOR },
    sites: [],
    outputs: { logs: [], printed: null, models: null, files: null, checkpoints: false },
  },
});
await node.peer.event(member.member, "ready");
const replica = {
  ...{ member: member.member, node: "node-a", host: HOST, port, isOpen: true },
  certificateSha256: node.bridgePeer.certificateSha256,
};
const serving = await RunningGateway.open(dir, { pki: site.pki, gateway, replica }, [
  { deployment: "job-1", name: "own", api: "own", maxOngoingRequests: 4, key: KEY },
]);
t.teardown(() => serving[Symbol.asyncDispose]());

type Call = { method?: string; body?: string; headers?: Record<string, string>; key?: string };

async function call(path: string, { method = "POST", body = "", headers = {}, key = KEY }: Call) {
  const asked = request({
    ...{ socketPath: serving.socket, method, path },
    headers: {
      ...(key === "" ? {} : { "x-api-key": key }),
      ...(method === "POST" ? { "content-length": Buffer.byteLength(body) } : {}),
      ...headers,
    },
  });
  asked.end(body);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve).once("error", reject);
  });
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
}

t.test("a call reaches the program's own path, and is on record without it", async (t) => {
  const headers = { "content-type": "text/x-own", cookie: "a=b", "x-other": "no" };
  t.match(await call("/inference/job-1/echo?a=%2F", { body: "hello", headers }), {
    ...{ status: 200, text: "/echo?a=%2F hello", headers: { "content-type": "text/x-own" } },
  });
  t.match(await call("/inference/job-1/seen", { headers }), {
    // `Connection` is of the gateway's own.
    text: '{"names":["Connection","Content-Length","Content-Type","X-Request-Id"]}\n',
  });
  t.match(await call("/inference/job-1/v1/models", { method: "GET" }), { text: "own models\n" });
  t.match(await call("/inference/job-1/nowhere", {}), { status: 404, text: /404 page not found/ });
  await untilFound("its record", () => serving.readCalls().filter(isEnd).length === 4);
  const lines = serving.readCalls();
  t.ok(lines.filter((line) => line.kind === "call").every((line) => line.call === "own"));
  t.notMatch(JSON.stringify(lines), /echo|nowhere/);
});

t.test("without a key nothing reaches it, and nothing tells that it is there", async (t) => {
  for (const path of ["/inference/job-1/echo", "/inference/job-2/echo"])
    for (const key of ["", "rpk_another"])
      t.match(await call(path, { key }), { status: 401 }, `${path} ${key}`);
  t.match(await call("/inference/job-1/health", { method: "GET", key: "" }), {
    ...{ status: 200, text: '{"status":"ok"}' },
  });
  t.match(await call("/inference/job-1/echo", { method: "DELETE" }), { status: 404 });
  t.match(await call("/v1/models", { method: "GET" }), { text: /"data":\[\]/ });
});

t.test("an answer comes as it is made, piece by piece", async (t) => {
  const { text: said } = await call("/inference/job-1/stream", {});
  t.equal(said, "0\n1\n2\n");
  t.strictSame(node.peer.violations, []);
});

function isEnd({ kind }: { kind: string }): boolean {
  return kind === "end";
}
