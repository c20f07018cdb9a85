/** Answers on their way to a real receiver, from a real disk; the journal's word is played. */
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { TestPki } from "@resontech/house/test-pki";
import type { Callback } from "../../src/callbacks/callback.ts";
import { Callbacks } from "../../src/callbacks/callbacks.ts";
import { CallbackSpool } from "../../src/callbacks/callback-spool.ts";
import { MAX_TRIES } from "../../src/callbacks/next-try.ts";
import { postCallback } from "../../src/callbacks/post-callback.ts";
import { Outbound } from "../../src/outbound/outbound.ts";
import type { OutLine } from "../../src/records/call-line.ts";
import { keptAnswer, SECRET } from "../helper/kept-answer.ts";
import { OutsideServer } from "@resontech/house/outside-server";
import { SILENT_LOG as log } from "@resontech/house/silent-log";

const pki = await TestPki.make(`${t.testdir()}/pki`, "127.0.0.1");
const identity = {
  cert: readFileSync(pki.serverCertFile, "utf8"),
  key: readFileSync(pki.serverKeyFile, "utf8"),
};

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 5_000 && !holds(); tries++) await sleep(10);
  if (!holds()) throw new Error("it did not come to hold");
}

async function worldOf(t: Test, nextMs: (tries: number) => number | null = () => 20) {
  const dir = t.testdir();
  const server = await OutsideServer.open(identity);
  t.teardown(() => server[Symbol.asyncDispose]());
  const world = {
    allowed: [server.allowed],
    isConnected: true,
    isLogThere: true,
    lines: [] as OutLine[],
  };
  const outbound = new Outbound(
    { find: (host, port) => world.allowed.find((o) => o.host === host && o.port === port) ?? null },
    { s3: { names: ["s3"], address: "127.0.0.1", port: 1 }, rootPem: pki.rootPem },
  );
  const records = {
    get isAvailable() {
      return world.isConnected;
    },
    note: async (line: OutLine) => {
      if (!world.isLogThere) throw new Error("auditd is silent");
      world.lines.push(line);
    },
  };
  const open = async () => {
    const spool = await CallbackSpool.open(dir, (error) => t.fail(String(error)));
    const callbacks = new Callbacks({ spool, outbound, records, log }, nextMs);
    t.teardown(() => callbacks[Symbol.asyncDispose]());
    return callbacks;
  };
  return { dir, server, world, open, left: () => readdirSync(dir).length };
}
const bodyOf = (said: string) => Readable.from([Buffer.from(said)]);

t.test("an answer is posted once, signed, and is on record before and after", async (t) => {
  const { server, world, open, left } = await worldOf(t);
  const callbacks = await open();
  const answer = keptAnswer(server.url("/hook?x=1"), { status: 500 });
  const again = await callbacks.keep(answer, SECRET, bodyOf('{"a":1}'));
  t.equal(await text(again), '{"a":1}', "its caller gets it all the same");
  await until(() => left() === 0);
  const signed = `1796000000\n${answer.id}\nr-1\njob-1\n500\n{"a":1}`;
  t.match(server.heard, [
    {
      ...{ method: "POST", path: "/hook?x=1", body: '{"a":1}' },
      headers: {
        ...{ "content-type": "application/json", "content-length": "7" },
        ...{ "idempotency-key": answer.id, "x-request-id": "r-1", "x-resontech-status": "500" },
        ...{ "x-resontech-deployment": "job-1", "x-resontech-timestamp": "1796000000" },
        "x-resontech-signature": `v1=${createHmac("sha256", SECRET).update(signed).digest("hex")}`,
      },
    },
  ]);
  const to = `localhost:${server.port}`;
  t.match(world.lines, [
    { kind: "out", id: answer.id, purpose: "callback", step: "begun", to },
    { kind: "out", id: answer.id, purpose: "callback", step: "ended", result: "done", tries: 1 },
  ]);
  await sleep(100);
  t.equal(server.heard.length, 1);
});

t.test("who does not take it is asked again, with the very same bytes", async (t) => {
  const { server, world, open, left } = await worldOf(t);
  let refused = 0;
  server.answer = (response) => {
    if (++refused === 1) response.socket?.destroy();
    else if (refused === 2) response.writeHead(307, { location: server.url("/other") }).end();
    else response.writeHead(refused === 3 ? 503 : 204).end();
  };
  const callbacks = await open();
  await callbacks.keep(keptAnswer(server.url("/hook")), SECRET, bodyOf("{}"));
  await until(() => left() === 0);
  t.equal(new Set(server.heard.map((heard) => JSON.stringify(heard))).size, 1);
  t.equal(server.heard.length, 4);
  t.match(world.lines.at(-1), { step: "ended", result: "done", tries: 4 });
});

t.test("it ends on record after so many tries, those of earlier lives with them", async (t) => {
  const { server, world, open, left } = await worldOf(t, (tries) =>
    tries >= MAX_TRIES ? null : 1,
  );
  server.answer = (response) => void response.writeHead(500).end();
  const first = await open();
  await first.keep(keptAnswer(server.url("/hook")), SECRET, bodyOf("{}"));
  await until(() => server.heard.length >= 5);
  await first[Symbol.asyncDispose]();
  t.equal(left(), 2, "it waits for the next life");
  await open();
  await until(() => left() === 0);
  t.match(world.lines.at(-1), { step: "ended", result: "url_failed", tries: MAX_TRIES });
});

t.test("while nothing can be put on record nobody outside is told anything", async (t) => {
  const { server, world, open, left } = await worldOf(t);
  world.isLogThere = false;
  const callbacks = await open();
  await callbacks.keep(keptAnswer(server.url("/hook")), SECRET, bodyOf("{}"));
  await sleep(200);
  t.same(server.heard, []);
  t.equal(left(), 2);
  await callbacks[Symbol.asyncDispose]();
  world.isConnected = false;
  const cutOff = await open();
  await sleep(100);
  await cutOff[Symbol.asyncDispose]();
  t.same(server.heard, []);
  [world.isConnected, world.isLogThere] = [true, true];
  await open();
  await until(() => left() === 0);
  t.match(world.lines.at(-1), { result: "done", tries: 1 }, "that was no try");
});

t.test("a host that is forbidden is told nothing from then on", async (t) => {
  const { server, world, open, left } = await worldOf(t);
  server.answer = (response) => void response.writeHead(500).end();
  const callbacks = await open();
  await callbacks.keep(keptAnswer(server.url("/hook")), SECRET, bodyOf("{}"));
  await until(() => server.heard.length > 0);
  world.allowed = [];
  // Until a try that was on its way has come.
  for (let [still, heard] = [0, -1]; still < 10; await sleep(10))
    [still, heard] = [server.heard.length === heard ? still + 1 : 0, server.heard.length];
  const before = server.heard.length;
  await sleep(200);
  t.equal(server.heard.length, before);
  server.answer = (response) => void response.end();
  world.allowed = [server.allowed];
  await until(() => left() === 0);
});

t.test("a receiver that does not answer holds up nobody but its deployment", async (t) => {
  const { server, open } = await worldOf(t);
  server.answer = (response, { path }) => {
    if (path === "/ok") response.end();
  };
  const callbacks = await open();
  for (let n = 0; n < 12; n++)
    await callbacks.keep(
      ...([keptAnswer(server.url("/dead"), { deployment: "dead" }), SECRET, bodyOf("1")] as const),
    );
  await callbacks.keep(keptAnswer(server.url("/ok")), SECRET, bodyOf("2"));
  await until(() => server.heard.some(({ path }) => path === "/ok"));
  t.equal(server.heard.filter(({ path }) => path === "/dead").length, 4, "so many at once");
});

t.test(
  "a receiver whose name never resolves was tried in vain, and a stop is no try",
  async (t) => {
    const outbound = new Outbound(
      { find: (host, port) => ({ host, port }) },
      { s3: { names: ["s3"], address: "127.0.0.1", port: 1 }, rootPem: pki.rootPem },
      () => new Promise(() => {}),
    );
    const callback: Callback = {
      formatVersion: 1,
      ...keptAnswer("https://hooks.example/a"),
      ...{ bytes: 1, tries: 0, nextAt: 0, signature: `v1=${"0".repeat(64)}` },
    };
    // A timeout by itself keeps no process alive.
    const alive = setInterval(() => {}, 10);
    t.teardown(() => clearInterval(alive));
    const never = new AbortController().signal;
    await t.rejects(postCallback(outbound, callback, bodyOf("1"), never, 50), {
      code: "url_unreachable",
    });
    const stopped = AbortSignal.abort(new Error("the gateway stops"));
    await t.rejects(postCallback(outbound, callback, bodyOf("1"), stopped), /the gateway stops/);
  },
);
