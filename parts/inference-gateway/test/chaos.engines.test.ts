/** What goes wrong around a call, with a played replica behind the real gateway, bridge and auditd: nothing is stuck, nothing is taken for whole. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { RunningGateway } from "./helper/running-gateway.ts";

t.setTimeout(600_000);
const KEY = "rpk_the-key-of-this-test";
const AT_ONCE = 8;
const MIB = 1024 ** 2;
const dir = mkdtempSync(join(tmpdir(), "rtc-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));

/** Bytes of the large answer that the gateway has taken. */
let taken = 0;
const replica = createServer((asked, response) => void answer(asked, response));
async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  if (asked.headers["content-length"] === undefined && asked.method === "POST") {
    // As the runner of predictors does.
    response.writeHead(411, { "content-type": "application/json", connection: "close" });
    return void response.end('{"error":{"type":"length_required"}}');
  }
  const said = await text(asked).catch(() => "gone");
  if (said === "die") {
    response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
    response.write('{"half":');
    await sleep(50);
    return void response.destroy();
  }
  if (said === "large") {
    response.writeHead(200, { "content-length": 256 * MIB });
    const closed = once(response, "close").catch(() => undefined);
    for (let sent = 0; sent < 256 && !response.destroyed; sent++) {
      if (!response.write(Buffer.alloc(MIB))) await Promise.race([once(response, "drain"), closed]);
      taken += MIB;
    }
    return void response.end();
  }
  await sleep(20);
  response.end(JSON.stringify({ said }));
}
replica.listen(0, "127.0.0.1");
await once(replica, "listening");
t.teardown(() => {
  replica.closeAllConnections();
  replica.close();
});
const gateway = await RunningGateway.open(dir, (replica.address() as AddressInfo).port, [
  { deployment: "job-1", name: "e", api: "predict", maxOngoingRequests: AT_ONCE, key: KEY },
]);
t.teardown(() => gateway[Symbol.asyncDispose]());

function open(headers: OutgoingHttpHeaders = {}) {
  const asked = request({
    ...{ socketPath: gateway.socket, method: "POST", path: "/inference/job-1/predict" },
    headers: { "x-api-key": KEY, ...headers },
  });
  asked.on("error", () => {});
  return asked;
}
async function call(
  body: string,
): Promise<{ status: number; headers: IncomingMessage["headers"] }> {
  const asked = open({ "content-length": Buffer.byteLength(body) });
  asked.end(body);
  const [from] = (await once(asked, "response")) as [IncomingMessage];
  await text(from);
  return { status: from.statusCode ?? 0, headers: from.headers };
}
/** Every place can be had: as many calls as there are places, twice, and none is refused. */
async function allPlacesAreFree(): Promise<boolean> {
  for (let round = 0; round < 2; round++) {
    const all = await Promise.all(Array.from({ length: AT_ONCE }, () => call("a")));
    if (all.some(({ status }) => status !== 200)) return false;
  }
  return true;
}

t.test("ten times the calls: each is answered, or told when to come again", async (t) => {
  const all = await Promise.all(Array.from({ length: 10 * 64 }, () => call("a")));
  const statuses = new Map<number, number>();
  for (const { status, headers } of all) {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 200) t.match(headers["retry-after"], /^\d+$/);
  }
  t.same(
    [...statuses.keys()].filter((status) => ![200, 429, 503].includes(status)),
    [],
  );
  t.ok((statuses.get(200) ?? 0) >= 256, `${statuses.get(200)} were answered`);
  t.ok(await allPlacesAreFree());
});

t.test(
  "a replica that dies within its answer leaves no whole one, and no place taken",
  async (t) => {
    for (let turn = 0; turn < 2 * AT_ONCE; turn++) {
      const asked = open({ "content-length": 3 });
      asked.end("die");
      const [from] = (await once(asked, "response")) as [IncomingMessage];
      if (from.statusCode === 200) await t.rejects(text(from), "the connection is cut");
      else t.match([from.statusCode, await text(from)], [502, /replica_unreachable/]);
    }
    t.ok(await allPlacesAreFree());
    const readGone = () =>
      gateway.readCalls().filter((line) => line.kind === "end" && line.outcome === "replica_gone");
    for (let tries = 0; tries < 5_000 && readGone().length < 2 * AT_ONCE; tries++) await sleep(20);
    const gone = readGone();
    t.equal(gone.length, 2 * AT_ONCE);
  },
);

t.test("a body that is said to be too long is refused before it comes", async (t) => {
  const asked = open({ "content-length": 1024 ** 3 + 1 });
  asked.flushHeaders();
  const [from] = (await once(asked, "response")) as [IncomingMessage];
  t.equal(from.statusCode, 413);
  t.match(JSON.parse(await text(from)), { error: { type: "body_too_large" } });
  asked.destroy();
});

t.test("a body without a length and without an end is stopped at once", async (t) => {
  const asked = open();
  const answered = once(asked, "response") as Promise<[IncomingMessage]>;
  let sent = 0;
  const flood = (async () => {
    for (; sent < 512 && !asked.destroyed; sent++)
      if (!asked.write(Buffer.alloc(MIB)))
        await Promise.race([once(asked, "drain"), once(asked, "close"), answered]);
  })();
  const [from] = await answered;
  t.equal(from.statusCode, 411);
  asked.destroy();
  await flood;
  t.ok(sent < 64, `${sent} MiB were sent`);
  t.ok(await allPlacesAreFree());
});

t.test("a client that takes nothing holds up nobody, and is not read ahead for", async (t) => {
  const asked = open({ "content-length": 5 });
  asked.end("large");
  const [from] = (await once(asked, "response")) as [IncomingMessage];
  from.pause();
  // Until no more of it is taken.
  for (let [still, before] = [0, -1]; still < 20; await sleep(20))
    [still, before] = [taken === before ? still + 1 : 0, taken];
  const all = await Promise.all(Array.from({ length: AT_ONCE - 1 }, () => call("a")));
  t.same(new Set(all.map(({ status }) => status)), new Set([200]));
  t.ok(taken < 32 * MIB, `${taken / MIB} MiB wait between`);
  asked.destroy();
  t.ok(await allPlacesAreFree());
});
