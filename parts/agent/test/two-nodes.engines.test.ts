import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { connect as dialTls } from "node:tls";
import type { DesiredMember, MemberBridge } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import { NetworkNamespace } from "@resontech/house/network-namespace";
import { untilFound } from "@resontech/house/until-found";
import { TestPki } from "@resontech/house/test-pki";
import { TestNode } from "./helper/test-node.ts";
import { TestSite } from "./helper/test-site.ts";
import { zipOf } from "./helper/zip.ts";

const SERVER_PORT = 8102;
/** Of somebody else on node-b, at all of its addresses. */
const SERVICE_PORT = 18_080;

const namespace = NetworkNamespace.make();
t.teardown(() => namespace[Symbol.dispose]());
const site = await TestSite.start(["node-a", "node-b"], namespace.hostAddress);
t.teardown(() => site[Symbol.asyncDispose]());
const a = await TestNode.join(site, "node-a", namespace.hostAddress, null);
t.teardown(() => a[Symbol.asyncDispose]());
const b = await TestNode.join(site, "node-b", namespace.address, namespace);
t.teardown(() => b[Symbol.asyncDispose]());
const nodes = [a, b];
for (const node of nodes) node.run();
for (const { peer } of nodes)
  await untilFound("registration", () => peer.registrations.length === 1);

type Gang = { server: DesiredMember; near: DesiredMember; far: DesiredMember };

/** Server and site-1 on node-a, site-2 on node-b. */
async function gang(job: string, port: number, dials: readonly string[] = []): Promise<Gang> {
  const federation = { sites: ["site-1", "site-2"] };
  const shard = (node: TestNode) =>
    node.input("shard", "shard.zip", zipOf([{ name: "dial.txt", body: dials.join("\n") }]));
  const client = async (
    node: TestNode,
    index: number,
    bridge?: MemberBridge,
  ): Promise<DesiredMember> => {
    const role = { kind: "client", index, site: `site-${index + 1}` } as const;
    return node.member(
      job,
      role,
      [await shard(node)],
      bridge === undefined ? {} : { bridge },
      federation,
    );
  };
  const listen: MemberBridge = { kind: "listen", port, peers: [b.bridgePeer] };
  const dial: MemberBridge = { kind: "dial", host: a.config.address, port, peer: a.bridgePeer };
  return {
    server: a.member(job, { kind: "server" }, [], { bridge: listen }, federation),
    near: await client(a, 0),
    far: await client(b, 1, dial),
  };
}

function want({ server, near, far }: Gang): void {
  a.peer.want(server, near);
  b.peer.want(far);
}

async function untilReleased({ server, near, far }: Gang): Promise<void> {
  await a.peer.event(server.member, "released");
  await a.peer.event(near.member, "released");
  await b.peer.event(far.member, "released");
  for (const node of nodes) node.peer.want();
  for (const node of nodes) await node.untilClean();
}

type Found = { hosts: string; connected: string[]; bulk: string };

async function foundBy(node: TestNode, { member }: DesiredMember): Promise<Found> {
  return JSON.parse((await node.peer.event(member, "metric")).value) as Found;
}

/** Whether whoever dials is let through to the server: with the byte that says so, or how it ended. */
async function knock(
  port: number,
  identity: { certPem: string; keyPem: string } | null,
  ca = site.pki.rootPem,
): Promise<string> {
  const socket = dialTls({
    ...{ host: a.config.address, port, servername: "node-a", ca },
    ...(identity === null ? {} : { cert: identity.certPem, key: identity.keyPem }),
  });
  return await new Promise((resolve) => {
    socket.once("data", (bytes: Buffer) => resolve(`reached ${bytes.toString("hex")}`));
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once("close", () => resolve("closed"));
  }).then((how) => {
    socket.destroy();
    return how as string;
  });
}

function logOf(test: Test): void {
  if (test.passing()) return;
  for (const { peer, log } of nodes.map((node) => ({ peer: node.peer, log: node.log() }))) {
    test.comment(
      peer.reports
        .slice(-40)
        .map(({ member, event }) => `${member} ${JSON.stringify(event).slice(0, 300)}`)
        .join("\n"),
    );
    test.comment(log.slice(-8000));
  }
}

t.test("registration says where a node is reached", async (t) => {
  t.match(a.peer.registrations[0], {
    bridge: { address: namespace.hostAddress, ports: { from: 29_000, to: 29_099 } },
  });
});

t.test(
  "a gang over two nodes runs; its far site finds the server by name and nothing else of its node",
  async (t) => {
    t.teardown(() => logOf(t));
    const everywhere = createServer((socket) => socket.destroy()).listen(0, "0.0.0.0");
    await once(everywhere, "listening");
    t.teardown(() => everywhere.close());
    const service = spawn(
      ...namespace.enter(process.execPath, [
        "-e",
        `require("net").createServer().listen(${SERVICE_PORT})`,
      ]),
    );
    t.teardown(() => service.kill());
    await untilFound("a service on node-b", () =>
      namespace.listening().some((one) => one.port === SERVICE_PORT),
    );
    const port = 29_007;
    const ports = new Set([
      ...namespace.listening().map((one) => one.port),
      22,
      53,
      80,
      111,
      port + 1,
      SERVER_PORT,
    ]);
    const dials = [
      ...[port, ...ports].map((one) => `gateway:${one}`),
      ...[port, ...ports].flatMap((one) => [
        `${a.config.address}:${one}`,
        `${b.config.address}:${one}`,
      ]),
      `${a.config.address}:${(everywhere.address() as { port: number }).port}`,
      "203.0.113.1:443",
      "198.18.255.254:8102",
    ];
    const members = await gang("gang-1", port, dials);
    want(members);
    const found = await foundBy(b, members.far);
    t.match(found.hosts, /^198\.1[89]\.\d+\.1\s+fl-server/m, "the gateway");
    t.strictSame(found.connected, [`gateway:${port}`], `one of ${dials.length} addresses`);
    t.equal(found.bulk, "whole", "32 MiB, and an end that is passed on as an end");
    const near = await foundBy(a, members.near);
    t.match(near.hosts, /^198\.1[89]\.\d+\.2\s+fl-server/m, "beside the server: the server itself");
    t.equal(near.bulk, "whole");
    await untilReleased(members);
    t.equal(
      await knock(port, await site.pki.identity("node-b")),
      "ECONNREFUSED",
      "the port is given back",
    );
    t.strictSame(a.peer.violations.concat(b.peer.violations), []);
  },
);

t.test("only the attempt's nodes are let in, by the certificates that they have now", async (t) => {
  t.teardown(() => logOf(t));
  const port = 29_008;
  const members = await gang("gang-long-1", port);
  want(members);
  await a.peer.event(members.server.member, "job-started");
  const [stranger, namesake] = [
    await site.pki.identity("node-c"),
    await site.pki.identity("node-b"),
  ];
  t.match(await knock(port, null), /CERTIFICATE_REQUIRED/);
  t.equal(await knock(port, stranger), "closed", "a node of another attempt");
  t.equal(
    await knock(port, namesake),
    "closed",
    "a certificate that node-b does not have any more",
  );
  t.equal(await knock(port, a.identity), "closed", "the server's own node");
  const foreign = await TestPki.make(t.testdir(), "127.0.0.1");
  t.match(
    await knock(port, await foreign.identity("node-b")),
    /closed|ALERT|ECONNRESET/,
    "another root's",
  );
  t.equal(await knock(port, b.identity), "reached 01");
  const refusals = () =>
    a
      .log()
      .split("\n")
      .filter((line) => line.includes("refused at a job's bridge"));
  await untilFound("they are told", () => refusals().length > 0);
  t.equal(refusals().length, 1, "told once");
  t.match(refusals()[0], /ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE/);

  t.comment(
    "its lease is withdrawn: what it has is cut, and it comes through no more; then it is let in again",
  );
  const { server, near } = members;
  a.peer.want({ ...server, bridge: { kind: "listen", port, peers: [] } }, near);
  await untilFound("refused", async () => (await knock(port, b.identity)) === "closed");
  a.peer.want(server, near);
  await untilFound("reached", async () => (await knock(port, b.identity)) === "reached 01");
  await untilReleased(members);
});

t.test(
  "a machine of the site that routes to a job's network is led to nobody by its gateway",
  async (t) => {
    t.teardown(() => logOf(t));
    const port = 29_012;
    const members = await gang("gang-long-4", port);
    want(members);
    await a.peer.event(members.server.member, "job-started");
    const [gateway = ""] = namespace
      .listening()
      .flatMap((one) => (one.port === port ? [one.address] : []));
    t.match(gateway, /^198\.1[89]\.\d+\.1$/);
    const route = (what: string) =>
      execFileSync("ip", ["route", what, `${gateway}/32`, "via", namespace.address]);
    route("add");
    t.teardown(() => route("delete"));
    const socket = connect({ host: gateway, port }).on("error", () => undefined);
    socket.end("bulk\n");
    let heard = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
    });
    await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    t.equal(heard, "");
    await untilFound("it is told", () => b.log().includes("not_of_this_network"));
    await untilReleased(members);
  },
);

t.test(
  "agents that are killed take their ends of the bridge up again, and leave nothing open meanwhile",
  async (t) => {
    t.teardown(() => logOf(t));
    const port = 29_009;
    const members = await gang("gang-long-2", port);
    want(members);
    await a.peer.event(members.server.member, "job-started");
    const opened = await b.nft("list", "ruleset");
    t.match(
      opened,
      new RegExp(`elements = \\{ "rt\\w+" \\. 198\\.1[89]\\.\\d+\\.1 \\. ${port} \\}`),
    );
    for (const node of nodes) await node.kill();
    t.equal(await knock(port, b.identity), "ECONNREFUSED");
    t.equal(await b.nft("list", "ruleset"), opened, "the rules outlive it");
    for (const node of nodes) node.run();
    await untilFound("reached", async () => (await knock(port, b.identity)) === "reached 01");
    await untilReleased(members);
    const chunks = b.peer.completed.filter((key) => key.startsWith(`logs/${members.far.member}-`));
    const log = (await Promise.all(chunks.map((key) => site.store.get(key)))).join("");
    t.match(log, /the connection was lost/, "it broke, and the site came again");
    t.strictSame(a.peer.violations.concat(b.peer.violations), []);
  },
);

t.test("two attempts over the same nodes have nothing to do with each other", async (t) => {
  t.teardown(() => logOf(t));
  const first = await gang("gang-lasting-1", 29_010);
  want(first);
  await a.peer.event(first.server.member, "job-started");
  const networks = await b.engine.podman(
    "network",
    "ls",
    "--filter",
    "label=tech.reson.attempt",
    "--format",
    "{{.Name}}",
  );
  const subnet = await b.engine.podman(
    "network",
    "inspect",
    "--format",
    "{{(index .Subnets 0).Subnet}}",
    networks.trim(),
  );
  const neighbour = subnet.trim().replace(/0\/24$/, "");
  const dials = [
    `${neighbour}1:29010`,
    `${neighbour}4:22`,
    `gateway:29010`,
    `${a.config.address}:29010`,
  ];
  const second = await gang("gang-2", 29_011, dials);
  a.peer.want(first.server, first.near, second.server, second.near);
  b.peer.want(first.far, second.far);
  const found = await foundBy(b, second.far);
  t.strictSame(found.connected, [], `the neighbour's gateway is ${neighbour}1`);
  await a.peer.event(second.server.member, "released");
  t.equal(await knock(29_011, b.identity), "ECONNREFUSED");
  t.equal(await knock(29_010, b.identity), "reached 01", "the first goes on");

  t.comment("nobody wants the first server any more: its port is closed at once");
  a.peer.want();
  await untilFound("closed", async () => (await knock(29_010, b.identity)) === "ECONNREFUSED");
  b.peer.want();
  for (const node of nodes) await node.untilClean();
  t.strictSame(a.peer.violations.concat(b.peer.violations), []);
});
