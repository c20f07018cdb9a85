import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import t from "tap";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { untilFound } from "@resontech/house/until-found";
import { JOB_UIDS, TestNode } from "./helper/test-node.ts";
import { zipOf } from "./helper/zip.ts";

const MIB = 1024 * 1024;
const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
node.run();
await untilFound("registration", () => node.peer.registrations.length === 1);

const server = { kind: "server" } as const;

type Probe = {
  uid: number;
  gid: number;
  pid1: string;
  CapEff: string;
  CapBnd: string;
  NoNewPrivs: string;
  Seccomp: string;
  writable: string[];
  routes: string;
  dials: Record<string, string>;
  hosts: string;
  devices: string[];
  memoryLimit: string;
  cpuQuota: string;
  pidsLimit: string;
  openFiles: string;
  resolves: string;
  keyMode: string;
  initMemory: string;
  mounts: string;
  env: string[];
};

t.test("a job sees its own files, its own network and nothing else", async (t) => {
  const { peer } = node;
  const listener = createServer((socket) => socket.destroy()).listen(0, "0.0.0.0");
  await once(listener, "listening");
  t.teardown(() => listener.close());
  const address = listener.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const own = Object.values(networkInterfaces())
    .flat()
    .find(
      (face) => face?.family === "IPv4" && !face.internal && !face.address.startsWith("198.18."),
    );

  // A neighbour on the same node: another attempt's server, listening.
  const neighbour = node.member("train-neighbour", server, []);
  peer.want(neighbour);
  await peer.event(neighbour.member, "ready");
  const [container = ""] = (await node.engine.podman("ps", "--format", "{{.Names}}"))
    .trim()
    .split("\n");
  const inspected: unknown = JSON.parse(
    await node.engine.podman(
      "inspect",
      "--format",
      "{{json .NetworkSettings.Networks}}",
      container,
    ),
  );
  const neighbourAddress = /"IPAddress":"([0-9.]+)"/.exec(JSON.stringify(inspected))?.[1] ?? "";
  t.match(neighbourAddress, /^198\.(18|19)\.\d+\.2$/, "the server's address is given, not found");

  const dials = [
    `gateway:${port}`,
    `${own?.address ?? "127.0.0.1"}:${port}`,
    `${neighbourAddress}:8102`,
    "192.0.2.1:53",
    "1.1.1.1:443",
    "gateway:53",
  ];
  const member = node.member(
    "probe-1",
    server,
    [await node.input("shard", "shard.zip", zipOf([{ name: "dial.txt", body: dials.join("\n") }]))],
    { resources: { memoryBytes: 96 * MIB, cpuMillis: 300, pids: 77 } },
  );
  peer.want(neighbour, member);
  await peer.event(member.member, "released");
  const found = JSON.parse(
    (await node.store.get("out/files_out/metrics.jsonl")) ?? "null",
  ) as Probe;

  t.ok(JOB_UIDS.from <= found.uid && found.uid <= JOB_UIDS.to, String(found.uid));
  t.equal(found.gid, found.uid);
  t.match(found.pid1, /^\/rt\/init /);
  t.match(found.CapEff, /^0+$/);
  t.match(found.CapBnd, /^0+$/);
  t.equal(found.NoNewPrivs, "1");
  t.equal(found.Seccomp, "2", "a filter is on");
  t.strictSame(
    found.writable.toSorted(),
    [
      "/app/out",
      "/app/payload",
      "/app/workspace",
      "/rt/events",
      "/tmp",
      "/var/tmp/nvflare/data",
    ].toSorted(),
  );
  t.equal(found.memoryLimit, String(96 * MIB));
  t.match(found.cpuQuota, /^30000/);
  t.equal(found.pidsLimit, "77");
  t.equal(found.openFiles, String(openFilesLimit()));
  t.match(found.keyMode, /^-r--------/);
  t.match(found.initMemory, /permission denied/);
  t.equal(found.resolves, "no");
  t.match(found.hosts, /^198\.1[89]\.\d+\.2\s+fl-server/m);
  t.notMatch(found.routes, /^\w+\t00000000\t/m, "no default route");
  t.notOk(
    found.devices.some((name) => /^(sd|vd|nvme|loop|kvm|mem|nvidia)/.test(name)),
    "no device of the host",
  );
  for (const address of dials) t.not(found.dials[address], "connected", address);
  t.ok(found.env.includes("DO_NOT_TRACK=1"));

  peer.want();
  await node.untilClean();
});

t.test("a full disk is the job's own fault and hurts nobody", async (t) => {
  const { peer } = node;
  const member = node.member("fill-1", server, [], { resources: { diskBytes: 24 * MIB } });
  peer.want(member);
  const failed = await peer.event(member.member, "failed");
  t.equal(failed.reason, "disk_limit");
  await peer.event(member.member, "released");
  t.match(await node.store.get(`logs/${member.member}-1.1/00000001`), /hello from server/);
  peer.want();
});

t.test("a shard that does not fit ends as disk_limit while it is staged", async (t) => {
  const { peer } = node;
  const body = Buffer.alloc(40 * MIB);
  for (let at = 0; at < body.length; at += 4) body.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  const member = node.member("train-fat", { kind: "client", index: 0, site: "site-1" }, [
    await node.input("shard", "shard.zip", zipOf([{ name: "a", body }])),
  ]);
  peer.want({ ...member, resources: { ...member.resources, diskBytes: 32 * MIB } });
  t.match(await peer.event(member.member, "failed"), {
    reason: "disk_limit",
    message: /33554432 bytes of its site's disk/,
  });
  await peer.event(member.member, "released");
  t.notOk(peer.of(member.member).some(({ kind }) => kind === "started"));
  peer.want();
});

t.test("a job over its memory ends as out_of_memory", async (t) => {
  const { peer } = node;
  const member = node.member("hog-1", server, [], { resources: { memoryBytes: 64 * MIB } });
  peer.want(member);
  t.equal((await peer.event(member.member, "failed")).reason, "out_of_memory");
  await peer.event(member.member, "released");
  peer.want();
});

t.test("a job that has as many threads as it may takes none from another", async (t) => {
  const { peer } = node;
  const swarm = node.member("swarm-1", server, [], { resources: { pids: 1300 } });
  const other = node.member("sleep-1", server, []);
  peer.want(swarm);
  await peer.event(swarm.member, "ready");
  peer.want(swarm, other);
  await peer.event(other.member, "ready");
  t.notOk(peer.of(swarm.member).some(({ kind }) => kind === "failed"));
  peer.want();
  await node.untilClean();
});

t.test("a payload that just ends is told with its exit code, and its output is kept", async (t) => {
  const { peer } = node;
  const member = node.member("crash-1", server, []);
  peer.want(member);
  const failed = await peer.event(member.member, "failed");
  t.equal(failed.reason, "payload_exited");
  t.match(failed.message, /exit code 7/);
  await peer.event(member.member, "released");
  t.match(await node.store.get(`logs/${member.member}-1.1/00000001`), /about to crash/);
  peer.want();
});

t.test("links that lead out of the job's disk are not followed", async (t) => {
  const { peer } = node;
  // Of the host; whoever opens it, however shortly, lets the one through that waits at its other end.
  const pipe = join(t.testdir({}), "pipe");
  const waits = spawn("sh", ["-c", 'mkfifo "$1" && : > "$1"', "sh", pipe]);
  t.teardown(() => waits.kill());
  const member = node.member("thief-1", server, [
    await node.input("shard", "shard.zip", zipOf([{ name: "target.txt", body: pipe }])),
  ]);
  peer.want(member);
  t.equal((await peer.event(member.member, "failed")).reason, "output_missing");
  await peer.event(member.member, "released");
  t.equal(waits.exitCode, null, "nothing of the host was even opened");
  t.equal(
    peer.completed.filter((key) => key.startsWith("out/files_out/training_log")).length,
    1,
    "only the first test's log was stored",
  );
  t.notOk(
    peer.completed.some((key) => key.endsWith("model_out/checkpoint.pt") && key.includes("thief")),
  );
  peer.want();
});

t.test("a shard that is no honest zip is refused with what is wrong", async (t) => {
  const { peer } = node;
  const shard = zipOf([{ name: "link", body: "/etc/passwd", mode: 0o120777 }]);
  const member = node.member("train-link", { kind: "client", index: 0, site: "site-1" }, [
    await node.input("shard", "shard.zip", shard),
  ]);
  peer.want(member);
  const failed = await peer.event(member.member, "failed");
  t.equal(failed.reason, "shard_invalid");
  t.match(failed.message, /link or a device/);
  await peer.event(member.member, "released");
  peer.want();
});

t.test(
  "a flood of output and events is taken in order, live to its limit and stored whole",
  { timeout: 200_000 },
  async (t) => {
    const { peer } = node;
    const member = node.member("flood-1", server, [], { resources: { diskBytes: 200 * MIB } });
    peer.want(member);
    await peer.event(member.member, "released", 150_000);
    const metrics = peer.of(member.member).filter(({ kind }) => kind === "metric");
    t.equal(metrics.length, 20_000);
    t.strictSame(metrics.at(-1), { kind: "metric", site: "site-1", value: '{"i":19999}' });
    const chunks = peer.completed.filter((key) => key.startsWith(`logs/${member.member}-`));
    let stored = 0;
    for (const key of chunks) stored += (await node.store.get(key))?.length ?? 0;
    t.ok(stored >= 64 * MIB, `${stored} bytes are stored`);
    const tailed = peer.tails.filter((tail) => tail.member === member.member);
    t.ok(tailed.some(({ text, bytes }) => text === null && bytes > 0));
    t.ok(tailed.reduce((sum, { text }) => sum + (text?.length ?? 0), 0) < 16 * MIB);
    let end = 0;
    for (const { offset, bytes } of tailed) {
      t.equal(offset, end);
      end = offset + bytes;
    }
    peer.want();
  },
);

t.test("nothing is left over, and nothing broke the contract", async (t) => {
  await node.untilClean();
  t.strictSame(node.peer.violations, []);
});
