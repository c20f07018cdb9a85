import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { BridgePeer } from "@resontech/contracts/agent-protocol";
import { X509Certificate } from "node:crypto";
import { pino } from "pino";
import t, { type Test } from "tap";
import { ClientBridge } from "../../../../src/substrate/container-host/network/client-bridge.ts";
import { ServerBridge } from "../../../../src/substrate/container-host/network/server-bridge.ts";
import { untilClosed } from "@resontech/house/until-closed";
import { untilFound } from "@resontech/house/until-found";
import { TestPki } from "@resontech/house/test-pki";
import { freePort } from "@resontech/house/free-port";

const HOST = "127.0.0.1";
/** The least time for which Linux puts off an acknowledgement. */
const PUT_OFF_MS = 40;
/** As a job's network has them: the host's own address is the first. */
const [SUBNET, CONTAINER] = ["127.0.0.0/24", "127.0.0.3"];
const pki = await TestPki.make(t.testdir(), HOST);
const identityOf = async (node: string) => ({
  ...(await pki.identity(node)),
  rootCertPem: pki.rootPem,
});
const [home, away] = [await identityOf("home"), await identityOf("away")];
const peerOf = (node: string, { certPem }: { certPem: string }): BridgePeer => ({
  node,
  certificateSha256: new X509Certificate(certPem).fingerprint256.replaceAll(":", "").toLowerCase(),
});

/** A server behind two bridges; `lines` is what the agents said. */
async function span(t: Test, onConnection: (socket: Socket) => void, gateway = HOST) {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const open = new Set<Socket>();
  const target = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    onConnection(socket.on("error", () => undefined));
  });
  target.listen(0, HOST);
  await once(target, "listening");
  const [outer, inner] = [await freePort(), await freePort()];
  const server = await ServerBridge.listen({
    ...{
      attempt: "a",
      listen: { host: HOST, port: outer },
      target: { host: HOST, port: portOf(target) },
    },
    ...{ gateway, peers: [peerOf("away", away)], identity: home, log },
  });
  const far = { host: HOST, port: outer, peer: peerOf("home", home) };
  const client = new ClientBridge({
    attempt: "a",
    listen: { host: HOST, port: inner },
    subnet: SUBNET,
    far,
    identity: away,
    log,
  });
  t.teardown(async () => {
    await Promise.all([client.close(), server.close()]);
    for (const socket of open) socket.destroy();
    target.close();
  });
  return { server, client, target, inner, outer, far, lines };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function enter(port: number, allowHalfOpen = false): Promise<Socket> {
  return await untilFound("a way through", async () => {
    const socket = connect({ port, host: HOST, localAddress: CONTAINER, allowHalfOpen });
    socket.on("error", () => undefined);
    return await once(socket, "connect").then(
      () => socket,
      () => null,
    );
  });
}

t.test("bytes pass whole both ways, and an end is an end of one side alone", async (t) => {
  const { inner } = await span(t, (socket) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.once("end", () => socket.end(Buffer.concat(chunks).toReversed()));
  });
  const socket = await enter(inner, true);
  const sent = Buffer.alloc(5_000_000, "resontech ");
  socket.end(sent);
  const got: Buffer[] = [];
  for await (const chunk of socket) got.push(chunk as Buffer);
  t.ok(Buffer.concat(got).equals(sent.toReversed()), `${sent.length} bytes there and back`);
});

t.test("a message and its answer cost little more than their TLS", async (t) => {
  const { inner } = await span(t, (socket) => socket.pipe(socket));
  const socket = await enter(inner);
  const times: number[] = [];
  for (let turn = 0; turn < 300; turn += 1) {
    const from = performance.now();
    // In two writes, which Nagle's algorithm would hold apart until the first is acknowledged.
    socket.write("a");
    await new Promise(setImmediate);
    socket.write("b");
    for (let heard = 0; heard < 2; ) heard += ((await once(socket, "data")) as [Buffer])[0].length;
    times.push(performance.now() - from);
  }
  // Nagle's algorithm would hold up each turn for as long as the kernel puts off an acknowledgement; a busy machine does not hold up half of them.
  const heldUp = times.filter((ms) => ms >= PUT_OFF_MS).length;
  t.ok(heldUp < times.length / 2, `${heldUp} of ${times.length} turns were held up`);
  socket.destroy();
});

t.test("who reads slowly is written to slowly", async (t) => {
  const sockets: Socket[] = [];
  const { inner } = await span(t, (socket) => {
    sockets.push(socket.pause());
  });
  const socket = await enter(inner);
  socket.on("error", () => undefined);
  const chunk = Buffer.alloc(1024 * 1024);
  let [written, isStuck] = [0, false];
  while (!isStuck && written < 256) {
    written += 1;
    if (!socket.write(chunk))
      isStuck = await Promise.race([once(socket, "drain").then(() => false), sleep(1_000, true)]);
  }
  t.ok(isStuck, `stuck after ${written} MiB`);
  socket.destroy();
});

t.test(
  "nobody is let in before there is a server, and a lost one breaks its connections alone",
  async (t) => {
    const { inner, target, server, far } = await span(t, (socket) => socket.pipe(socket));
    const first = await enter(inner);
    first.write("one");
    t.equal(String((await once(first, "data"))[0]), "one");
    server.admit([]);
    await untilClosed(first.resume());
    const refused = await enter(inner);
    t.match(
      await once(refused.resume(), "error"),
      [{ code: "ECONNRESET" }],
      "broken off, not ended",
    );
    server.admit([peerOf("away", away)]);
    const again = await enter(inner);
    again.write("two");
    t.equal(String((await once(again, "data"))[0]), "two");
    again.destroy();

    target.close();
    const port = await freePort();
    const said: string[] = [];
    const log = pino({ level: "debug" }, { write: (line: string) => void said.push(line) });
    const early = new ClientBridge({
      ...{ attempt: "b", listen: { host: HOST, port }, subnet: SUBNET, identity: away, log },
      far: { ...far, port: await freePort() },
    });
    await untilFound(
      "two tries",
      () => said.filter((line) => line.includes("ECONNREFUSED")).length >= 2,
    );
    await t.rejects(once(connect({ port, host: HOST }), "connect"), { code: "ECONNREFUSED" });
    await early.close();
  },
);

t.test("while a job's network is not there, its server is sought nowhere else", async (t) => {
  let connections = 0;
  // For documentation (RFC 5737): of no interface, and of no job network that another test makes.
  const { inner, lines } = await span(t, () => (connections += 1), "203.0.113.1");
  await untilFound("a try", async () => lines.some((line) => line.includes("EADDRNOTAVAIL")));
  await t.rejects(once(connect({ port: inner, host: HOST }), "connect"), { code: "ECONNREFUSED" });
  t.equal(connections, 0);
});

t.test(
  "an agent with another certificate than the server's node has is not believed",
  async (t) => {
    const { client, inner, far, lines } = await span(t, (socket) => socket.end("secret"));
    const before = await enter(inner);
    t.equal(String((await once(before, "data"))[0]), "secret");
    client.lead({ ...far, peer: { ...far.peer, certificateSha256: "0".repeat(64) } });
    const socket = await enter(inner);
    const heard: unknown[] = [];
    socket.on("data", (chunk) => heard.push(chunk)).on("error", () => undefined);
    await untilClosed(socket);
    t.same(heard, []);
    t.ok(lines.some((line) => line.includes("another certificate")));
  },
);

t.test("nobody but a container of the job's network is led to its server", async (t) => {
  let connections = 0;
  const { inner, lines } = await span(t, (socket) => {
    connections += 1;
    socket.end("secret");
  });
  await untilClosed((await enter(inner)).resume());
  const before = connections;
  for (const [who, localAddress] of [
    ["the host itself", HOST],
    ["another network", "127.0.1.3"],
  ] as const) {
    const heard: unknown[] = [];
    const socket = connect({ port: inner, host: HOST, localAddress });
    socket.on("data", (chunk) => heard.push(chunk)).on("error", () => undefined);
    await untilClosed(socket);
    t.strictSame(heard, [], who);
  }
  await untilClosed((await enter(inner)).resume());
  t.equal(connections, before + 1, "the server's agent was asked for the one behind them alone");
  t.equal(lines.filter((line) => line.includes("not_of_this_network")).length, 1, "told once");
});

t.test("strangers and connections are bounded; a refusal is told once", async (t) => {
  const connections: Socket[] = [];
  const { inner, outer, lines } = await span(t, (socket) => {
    connections.push(socket.resume().once("end", () => socket.end()));
  });
  const gate = (await enter(inner)).resume();
  const strangers = Array.from({ length: 96 }, () =>
    connect({ port: outer, host: HOST })
      .on("error", () => undefined)
      .resume(),
  );
  let closed = 0;
  for (const stranger of strangers) stranger.once("close", () => (closed += 1));
  await untilFound("a third of them is gone", () => closed === 32).catch(() =>
    t.comment(`${closed} are`),
  );
  const late = connect({ port: outer, host: HOST });
  await untilClosed(late.resume());
  t.equal(closed, 32, "the others may still say who they are");
  for (const stranger of strangers) stranger.destroy();

  const sockets: Socket[] = [gate];
  while (sockets.length < 260) {
    const more = await Promise.all(Array.from({ length: 10 }, () => enter(inner)));
    for (const socket of more) socket.resume();
    sockets.push(...more);
    // Through to the server before the next ones come: a burst meets the bound on strangers first.
    await untilFound("through", () => connections.length >= Math.min(sockets.length, 256));
  }
  const count = () => sockets.filter(({ closed }) => closed).length;
  await untilFound(
    "what is over the limit is gone",
    () => count() === sockets.length - 256,
    5_000,
  ).catch(() => undefined);
  t.equal(
    count(),
    sockets.length - 256,
    `of ${sockets.length}, ${connections.length} came through`,
  );
  const told = lines.filter((line) => line.includes("refused at a job's bridge"));
  t.equal(told.length, 2, "once by each side");
  for (const socket of sockets) socket.destroy();
});
