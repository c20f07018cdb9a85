/** The way out against real servers, by real TLS. */
import { buffer } from "node:stream/consumers";
import { readFileSync } from "node:fs";
import type { OutboundHost } from "../../src/outbound/outbound-hosts.ts";
import t, { type Test } from "tap";
import { TestPki } from "@resontech/house/test-pki";
import { fetchUrl } from "../../src/outbound/fetch-url.ts";
import { Outbound } from "../../src/outbound/outbound.ts";
import { OutsideServer } from "@resontech/house/outside-server";

const pki = await TestPki.make(`${t.testdir()}/pki`, "127.0.0.1");
const identity = {
  cert: readFileSync(pki.serverCertFile, "utf8"),
  key: readFileSync(pki.serverKeyFile, "utf8"),
};
const signal = AbortSignal.timeout(120_000);

async function worldOf(
  t: Test,
  {
    hosts,
    resolve,
  }: { hosts?: OutboundHost[]; resolve?: (host: string) => Promise<string[]> } = {},
) {
  const server = await OutsideServer.open(identity);
  t.teardown(() => server[Symbol.asyncDispose]());
  const allowed: OutboundHost[] = hosts ?? [server.allowed];
  const outbound = new Outbound(
    { find: (host, port) => allowed.find((one) => one.host === host && one.port === port) ?? null },
    {
      s3: { names: ["s3.appliance.example"], address: "127.0.0.1", port: server.port },
      rootPem: pki.rootPem,
    },
    resolve,
  );
  const fetch = async (url: string, maxBytes = 1_000) => {
    const {
      stream,
      failure: _,
      ...body
    } = await fetchUrl(outbound, outbound.source(url), { maxBytes, signal });
    return { ...body, text: (await buffer(stream)).toString() };
  };
  return { server, outbound, fetch, allowed };
}

t.test(
  "what an allowed host has is fetched, with its kind, and with nothing of the caller's",
  async (t) => {
    const { server, fetch } = await worldOf(t);
    server.answer = (response) => {
      response.setHeader("content-type", "image/png; q=1");
      response.end("bytes");
    };
    t.same(await fetch(server.url("/a?b")), { contentType: "image/png", length: 5, text: "bytes" });
    t.match(server.heard, [{ method: "GET", path: "/a?b", body: "" }]);
    t.same(Object.keys(server.heard[0]?.headers ?? {}).sort(), [
      ...["accept", "accept-encoding", "connection", "host"],
    ]);
    server.answer = (response) => {
      response.setHeader("content-type", "application/json");
      response.end('{"data_b64":"aGk="}');
    };
    t.match(
      await fetch(server.url("/")),
      { contentType: "application/octet-stream", text: '{"data_b64":"aGk="}' },
      "it is no envelope of other bytes",
    );
  },
);

t.test("who is not allowed is not asked", async (t) => {
  const { server, fetch, outbound } = await worldOf(t, { hosts: [] });
  await t.rejects(fetch(server.url("/")), { code: "url_not_allowed" });
  t.throws(() => outbound.receiver(server.url("/")), { code: "url_not_allowed" });
  await t.rejects(fetch(`http://localhost:${server.port}/`), { code: "url_invalid" });
  t.same(server.heard, []);
});

t.test("a name that leads inside is not followed, whatever it led to before", async (t) => {
  const looks: string[] = [];
  const { server, fetch, allowed } = await worldOf(t, {
    hosts: [],
    resolve: async (host) => {
      looks.push(host);
      return looks.length === 1 ? ["10.255.255.1", "127.0.0.1", "::1"] : ["127.0.0.1"];
    },
  });
  allowed.push({ host: "localhost", port: server.port });
  await t.rejects(fetch(server.url("/")), { code: "url_not_allowed" });
  t.same(looks, ["localhost"], "it is asked for once");
  t.same(server.heard, []);
  allowed[0] = server.allowed;
  t.match(
    await fetch(server.url("/")),
    { text: "ok" },
    "the address that was found good is dialled",
  );
});

t.test("the appliance's own S3 door needs no entry, and is told no answer", async (t) => {
  const { server, outbound } = await worldOf(t, { hosts: [] });
  const url = `https://s3.appliance.example:${server.port}/bucket/a?X-Amz-Signature=1`;
  t.match(outbound.source(url), { allowed: null, host: "s3.appliance.example" });
  t.throws(() => outbound.receiver(url), { code: "url_not_allowed" });
  t.throws(() => outbound.source("https://s3.appliance.example/"), { code: "url_not_allowed" });
  await t.rejects(
    fetchUrl(outbound, outbound.source(url), { maxBytes: 10, signal }),
    { code: "url_unreachable" },
    "its certificate is one of another name",
  );
});

t.test("a presigned URL of the S3 door is fetched at the door's own address", async (t) => {
  const { server } = await worldOf(t);
  const outbound = new Outbound(
    { find: () => null },
    {
      ...{ s3: { names: ["localhost"], address: "127.0.0.1", port: server.port } },
      rootPem: pki.rootPem,
    },
    async () => {
      throw new Error("nobody is asked for its name");
    },
  );
  const url = server.url("/bucket/a%20b?X-Amz-Signature=1");
  const { stream } = await fetchUrl(outbound, outbound.source(url), { maxBytes: 10, signal });
  t.equal((await buffer(stream)).toString(), "ok");
  t.match(server.heard, [{ path: "/bucket/a%20b?X-Amz-Signature=1" }]);
  t.equal(server.heard[0]?.headers.host, `localhost:${server.port}`, "which is signed");
});

t.test("an address that was named is dialled, and shows a certificate of it", async (t) => {
  const { server, fetch, allowed } = await worldOf(t, { hosts: [] });
  allowed.push({ host: "127.0.0.1", port: server.port });
  t.match(await fetch(`https://127.0.0.1:${server.port}/`), { text: "ok" });
});

t.test("who vouches for a host is who was named for it, and nobody else", async (t) => {
  const other = await TestPki.make(`${t.testdir()}/pki`, "127.0.0.1");
  const { server, fetch, allowed } = await worldOf(t);
  allowed[0] = { ...server.allowed, ca: other.rootPem };
  await t.rejects(fetch(server.url("/")), { code: "url_unreachable" });
  allowed[0] = { ...server.allowed, ca: pki.rootPem };
  t.match(await fetch(server.url("/")), { text: "ok" });
});

t.test("no redirect is followed, and no body is taken that is not whole and bounded", async (t) => {
  const { server, fetch } = await worldOf(t);
  const failed = { code: "url_failed" };
  server.answer = (response) => void response.writeHead(302, { location: server.url("/b") }).end();
  await t.rejects(fetch(server.url("/a")), failed);
  t.equal(server.heard.length, 1);
  server.answer = (response) => void response.writeHead(404).end();
  await t.rejects(fetch(server.url("/a")), failed);
  server.answer = (response) => {
    response.flushHeaders();
    response.end("chunked");
  };
  await t.rejects(fetch(server.url("/a")), failed, "of unknown length");
  server.answer = (response) =>
    void response.writeHead(200, { "content-encoding": "gzip", "content-length": 2 }).end("ab");
  await t.rejects(fetch(server.url("/a")), failed, "encoded");
  server.answer = (response) => void response.end("x".repeat(1_001));
  await t.rejects(fetch(server.url("/a")), { code: "body_too_large" });
  server.answer = (response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("half", () => response.destroy());
  };
  await t.rejects(fetch(server.url("/a")), { code: "url_unreachable" }, "it breaks off");
});

t.test("who waits no longer waits for nobody outside", async (t) => {
  const { server, outbound } = await worldOf(t);
  server.answer = () => {};
  // Timers of one process end in the order of their times.
  let isLate = false;
  const timer = setTimeout(() => (isLate = true), 5_000);
  const gone = AbortSignal.timeout(100);
  await t.rejects(
    fetchUrl(outbound, outbound.source(server.url("/")), { maxBytes: 10, signal: gone }),
  );
  const { outbound: silent } = await worldOf(t, { resolve: () => new Promise(() => {}) });
  const target = { ...outbound.source(server.url("/")) };
  await t.rejects(
    fetchUrl(silent, target, { maxBytes: 10, signal: AbortSignal.timeout(100) }),
    "not for a name either",
  );
  clearTimeout(timer);
  t.equal(isLate, false);
});
