import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import type { IncomingMessage, RequestOptions } from "node:http";
import Fastify, { type FastifyInstance } from "fastify";
import t from "tap";
import { errorReplies } from "../../src/http/error-replies.ts";
import { listenOnSocket } from "../../src/http/listen-on-socket.ts";
import { peerAddress } from "../../src/http/peer-address.ts";

// Short: a socket's path may have 107 bytes.
const dir = mkdtempSync(join(tmpdir(), "rtp-"));
t.teardown(() => rmSync(dir, { recursive: true }));

async function app(): Promise<FastifyInstance> {
  const made = Fastify();
  await made.register(errorReplies);
  await made.register(peerAddress);
  made.get("/", async (asked) => ({ peer: asked.peer }));
  t.teardown(() => made.close());
  return made;
}

async function get(
  options: RequestOptions,
): Promise<{ status: number | undefined; body: Record<string, unknown> }> {
  const sent = request({ path: "/", agent: false, ...options });
  sent.end();
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  return {
    status: reply.statusCode,
    body: JSON.parse(await text(reply)) as Record<string, unknown>,
  };
}

t.test("on the socket the front door says who asks, and has to", async (t) => {
  chmodSync(dir, 0o750);
  const socketPath = join(dir, "sock");
  const first = await app();
  await listenOnSocket(first, socketPath);
  t.equal(statSync(socketPath).mode & 0o777, 0o660);
  for (const peer of ["10.1.2.3", "fd00::1"])
    t.match(await get({ socketPath, headers: { "x-rt-peer": peer } }), { body: { peer } });
  for (const headers of [
    {},
    { "x-rt-peer": "" },
    { "x-rt-peer": "evil" },
    { "x-rt-peer": "10.0.0.1, 10.0.0.2" },
    { "x-rt-peer": ["10.0.0.1", "10.0.0.2"] },
    { "x-forwarded-for": "10.0.0.1" },
  ])
    t.match(await get({ socketPath, headers }), {
      ...{ status: 400, body: { code: "malformed_request" } },
    });
});

t.test("on an address nobody may say it", async (t) => {
  const made = await app();
  const port = Number(new URL(await made.listen({ host: "127.0.0.1", port: 0 })).port);
  const headers = { "x-rt-peer": "10.1.2.3", "x-forwarded-for": "10.1.2.3" };
  t.match(await get({ port, headers }), { body: { peer: "127.0.0.1" } });
  const { body } = await (await app()).inject({ url: "/", headers });
  t.match(JSON.parse(body), { peer: "127.0.0.1" });
});

t.test("a socket that a killed process left is replaced; an open folder is refused", async (t) => {
  const path = join(dir, "sock");
  chmodSync(dir, 0o750);
  await listenOnSocket(await app(), path);
  await listenOnSocket(await app(), path);
  chmodSync(dir, 0o755);
  await t.rejects(listenOnSocket(await app(), path), /closed to others/);
});
