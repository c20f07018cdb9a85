/** Calls of predictors that name something outside: where their bytes are, or who is told the answer. The whole gateway, against real servers. */
import { createHash, createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Route } from "@resontech/contracts/inference-routes";
import t, { type Test } from "tap";
import { type CallLine, readCallLine } from "../src/records/call-line.ts";
import { OutsideServer } from "@resontech/house/outside-server";
import { digestOf, PlayedGateway } from "./helper/played-gateway.ts";

const KEY = "rpk_of-this-test";
const SECRET = "5".repeat(64);
const PREDICT = "/inference/job-1/predict";
const route: Omit<Route, "replicas"> = {
  ...{ deployment: "job-1", name: "echo", api: "predict", createdAt: 0, project: "p_1" },
  ...{ aliases: [], keySha256: digestOf(KEY), visibility: "PRIVATE", maxOngoingRequests: 4 },
  ...{ generation: 1, state: "HOT", wakeMs: 0, callback: { url: null, secret: SECRET } },
};

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 5_000 && !holds(); tries++) await sleep(10);
  if (!holds()) throw new Error("it did not come to hold");
}

async function worldOf(t: Test, its: Omit<Route, "replicas"> = route) {
  const gateway = await PlayedGateway.open([its]);
  t.teardown(() => gateway[Symbol.asyncDispose]());
  const server = await OutsideServer.open(gateway.server);
  t.teardown(() => server[Symbol.asyncDispose]());
  gateway.allow([server.allowed]);
  const post = async (body: object, headers?: Record<string, string>) => {
    const { body: text, ...answer } = await gateway.post(PREDICT, KEY, body, headers);
    return { ...answer, body: JSON.parse(text) as unknown };
  };
  const lines = (): CallLine[] =>
    readdirSync(gateway.callsDir)
      .filter((name) => name !== "ends.ndjson")
      .flatMap((name) => readFileSync(join(gateway.callsDir, name), "utf8").split("\n"))
      .map(readCallLine)
      .filter((line) => line !== null && line.kind !== "batch");
  return { gateway, server, post, lines };
}

const refused = (status: number, type: string) => ({ status, body: { error: { type } } });

t.test("a replica gets the bytes behind a url, and they are on record", async (t) => {
  const { gateway, server, post, lines } = await worldOf(t);
  server.answer = (response) => {
    response.setHeader("content-type", "image/png");
    response.end("pixels");
  };
  const url = server.url("/cat.png?token=secret");
  t.match(await post({ url, ignored: 1 }), { status: 200, body: { ok: true } });
  t.match(gateway.engine, { calls: 1, said: "pixels", contentType: "image/png" });
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  const [out, call] = lines();
  t.match(out, {
    ...{ kind: "out", purpose: "fetch", step: "begun", to: `localhost:${server.port}` },
    urlSha256: digest(url),
  });
  t.match(call, {
    ...{ kind: "call", id: out?.id, requestSha256: digest("pixels"), requestBytes: 6 },
  });
  t.notMatch(JSON.stringify(lines()), "token=secret");
});

t.test("a body that names no url is the replica's, byte for byte", async (t) => {
  const { gateway, post } = await worldOf(t);
  t.match(await post({ data_b64: "aGk=" }), { status: 200 });
  t.match(gateway.engine, { said: '{"data_b64":"aGk="}', contentType: "application/json" });
  const large = { data_b64: "a".repeat(40_000) };
  t.match(await post(large), { status: 200 });
  t.equal(gateway.engine.said, JSON.stringify(large));
  t.match(await post({ url: "x" }, { "content-type": "application/octet-stream" }), {
    status: 200,
  });
  t.equal(gateway.engine.said, '{"url":"x"}', "of bytes nothing is read");
});

t.test("a url that can't be had is told as such, and no replica is asked", async (t) => {
  const { gateway, server, post, lines } = await worldOf(t);
  server.answer = (response) => void response.writeHead(302, { location: "/b" }).end();
  t.match(await post({ url: server.url("/a") }), refused(400, "url_failed"));
  t.match(await post({ url: "http://localhost/" }), refused(400, "url_invalid"));
  t.match(await post({ url: 7 }), refused(400, "url_invalid"));
  t.match(await post({ url: "https://other.example/" }), refused(400, "url_not_allowed"));
  const before = server.heard.length;
  gateway.allow([]);
  t.match(await post({ url: server.url("/a") }), refused(400, "url_not_allowed"), "at once");
  gateway.allow([{ host: "localhost", port: server.port }]);
  t.match(await post({ url: server.url("/a") }), refused(400, "url_not_allowed"), "it is inside");
  t.equal(server.heard.length, before);
  t.equal(gateway.engine.calls, 0);
  await until(() => lines().some((line) => line.kind === "out" && line.step === "ended"));
  t.match(
    lines().find((line) => line.kind === "out" && line.step === "ended"),
    { result: "url_failed" },
  );
});

t.test("bytes that break off end the call, and its place is free again", async (t) => {
  const { gateway, server, post } = await worldOf(t, { ...route, maxOngoingRequests: 1 });
  server.answer = (response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("half", () => response.destroy());
  };
  t.match(await post({ url: server.url("/a") }), refused(502, "url_unreachable"));
  server.answer = (response) => void response.end("all");
  t.match(await post({ url: server.url("/a") }), { status: 200 });
  t.equal(gateway.engine.said, "all");
});

t.test("the answer is posted to whom the deployment names, or the call", async (t) => {
  const { gateway, server, post, lines } = await worldOf(t);
  t.match(await post({}, { "x-request-id": "r-7" }), { status: 200 });
  const to = { "x-request-id": "r-8", "x-callback-url": server.url("/of-the-call") };
  t.match(await post({}, to), { status: 200, body: { ok: true } });
  await until(() => readdirSync(gateway.callbacksDir).length === 0);
  t.equal(server.heard.length, 1, "the first names nobody");
  const [heard] = server.heard;
  t.match(heard, { method: "POST", path: "/of-the-call", body: '{"ok":true}' });
  const said = (name: string) => String(heard?.headers[name]);
  const signed = [
    ...[said("x-resontech-timestamp"), said("idempotency-key"), said("x-request-id")],
    ...[said("x-resontech-deployment"), said("x-resontech-status"), heard?.body],
  ].join("\n");
  t.match(said("x-request-id"), "r-8");
  t.equal(
    said("x-resontech-signature"),
    `v1=${createHmac("sha256", SECRET).update(signed).digest("hex")}`,
  );
  const call = lines().findLast(({ kind }) => kind === "call");
  t.match(
    lines().filter(({ kind, id }) => kind === "out" && id === call?.id),
    [{ step: "begun" }, { step: "ended", result: "done" }],
  );
});

t.test("a deployment's own receiver hears of each answer, errors with them", async (t) => {
  const { gateway, server, post } = await worldOf(t);
  gateway.change({ callback: { url: server.url("/own"), secret: SECRET } });
  gateway.predicts = (answer) =>
    void answer.writeHead(500, { "content-type": "application/json" }).end('{"error":{}}');
  let answer = await post({});
  for (let tries = 0; tries < 1_000 && server.heard.length === 0; tries++) {
    await sleep(20);
    answer = await post({});
  }
  t.match(answer, { status: 500 });
  t.match(server.heard[0], {
    ...{ path: "/own", body: '{"error":{}}', headers: { "x-resontech-status": "500" } },
  });
  gateway.predicts = (said) => void said.destroy();
  t.match(await post({}), { status: 502 });
  await until(() => server.heard.some(({ headers }) => headers["x-resontech-status"] === "502"));
  t.match(JSON.parse(server.heard.at(-1)?.body ?? ""), { error: { type: "replica_unreachable" } });
  gateway.allow([]);
  const calls = gateway.engine.calls;
  t.match(await post({}), refused(400, "url_not_allowed"), "an answer that could not be posted");
  t.equal(gateway.engine.calls, calls, "is not asked for");
});

t.test("nobody is told who is not allowed, and nothing unsigned", async (t) => {
  const { callback: _, ...unsigned } = route;
  const { gateway, server, post } = await worldOf(t, unsigned);
  const to = (url: string) => ({ "x-callback-url": url });
  t.match(await post({}, to(server.url("/a"))), refused(400, "callback_unavailable"));
  gateway.change({ callback: { url: null, secret: SECRET } });
  const other = async () => await post({}, to("https://other.example/a"));
  let answer = await other();
  for (
    let tries = 0;
    tries < 5_000 && JSON.stringify(answer).includes("callback_unavailable");
    tries++
  ) {
    await sleep(10);
    answer = await other();
  }
  t.match(answer, refused(400, "url_not_allowed"));
  t.match(await post({}, to("http://localhost/a")), refused(400, "url_invalid"));
  t.equal(gateway.engine.calls, 0);
  t.same(server.heard, []);
});

t.test("answers that nobody takes wait for the next life of the gateway", async (t) => {
  const { gateway, server, post } = await worldOf(t);
  server.answer = (response) => void response.writeHead(503).end();
  t.match(await post({}, { "x-callback-url": server.url("/a") }), { status: 200 });
  await until(() => server.heard.length > 0);
  await gateway.stop();
  t.equal(readdirSync(gateway.callbacksDir).length, 2);
  server.answer = (response) => void response.end();
  await gateway.start();
  await until(() => readdirSync(gateway.callbacksDir).length === 0);
  t.equal(server.heard.at(-1)?.body, '{"ok":true}');
});

t.test("whoever hangs up before there is an answer has nobody told", async (t) => {
  const { gateway, server } = await worldOf(t);
  let answered = 0;
  gateway.predicts = (answer) => {
    setTimeout(() => {
      answered += 1;
      answer.end("{}");
    }, 300);
  };
  await gateway.hangUp(PREDICT, KEY, { "x-callback-url": server.url("/a") }, 100);
  await until(() => answered === 1);
  await sleep(200);
  t.same(server.heard, []);
  t.same(readdirSync(gateway.callbacksDir), []);
});
