/** What one producer can't do to the others, whoever runs it. */
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { PARALLEL_WRITES } from "../src/checkpoint/tree-writer.ts";
import { connectProducer } from "@resontech/audit/producer";
import { encodeJsonFrame, FRAME } from "@resontech/audit/format/wire/frames";
import { AuditdFixture, startedAuditd } from "./helper/auditd-fixture.ts";
import { jobSubmit, keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { untilClosed } from "@resontech/house/until-closed";
import { verified } from "./helper/verified.ts";

/** A connection that has said hello and reads nothing. */
async function deaf(t: Test, auditd: AuditdFixture, name: string): Promise<Socket> {
  const socket = connect(auditd.socket(name));
  socket.on("error", () => {}).pause();
  t.teardown(() => socket.destroy());
  await once(socket, "connect");
  socket.write(encodeJsonFrame(FRAME.hello, { v: 1, boot: "b-1", firstPseq: 1 }));
  return socket;
}

t.test(
  "generations are the coordinator's to tell: from another producer they are refused and change nothing",
  async (t) => {
    const auditd = await startedAuditd(t);
    const told = (generation: number) => ({
      ...{ type: "admin.coordinator.start" as const, op: crypto.randomUUID() },
      ...{
        actor: { sub: "x", kind: "system" as const },
        object: { kind: "process" as const, id: "coordinator" },
      },
      detail: { generation, version: "1" },
    });
    await using other = await connectProducer({
      socketPath: auditd.socket("appliance"),
      boot: "b-1",
    });
    t.match(await other.fact(told(Number.MAX_SAFE_INTEGER)).catch((error: unknown) => error), {
      reason: "reserved_type",
    });
    t.equal((await other.status()).highestGeneration, 0);
    await using own = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
    });
    await own.fact(told(7));
    t.equal((await own.status()).highestGeneration, 7);
  },
);

t.test(
  "operations that one family opens without end are refused, and those of others are not",
  async (t) => {
    const auditd = await startedAuditd(t);
    await using rogue = await connectProducer({
      socketPath: auditd.socket("appliance"),
      boot: "b-1",
    });
    for (let opened = 0; opened < 10_000; opened += 500)
      await Promise.all(Array.from({ length: 500 }, () => rogue.requested(jobSubmit())));
    t.match(await rogue.requested(jobSubmit()).catch((error: unknown) => error), {
      reason: "operations_open",
    });
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
    });
    await gate.requested(jobSubmit());
    const [first] = await rogue.openOperations();
    await rogue.outcome({ ...jobSubmit(first!.op), phase: "completed" });
    await rogue.requested(jobSubmit());
  },
);

t.test(
  "one that asks and does not read takes no memory, and does not hold up a stop",
  async (t) => {
    const auditd = await startedAuditd(t);
    const socket = await deaf(t, auditd, "appliance");
    const control = connect({ path: auditd.config.controlSocket!, allowHalfOpen: true }).resume();
    t.teardown(() => control.destroy());
    control.write("POST /status HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}");
    for (let id = 0; id < 100_000; id += 1)
      socket.write(encodeJsonFrame(FRAME.query, { id, verb: "status" }));
    // Until auditd takes no more of it.
    for (let [still, sent] = [0, -1]; still < 20; await sleep(50)) {
      const now = socket.bytesWritten - socket.writableLength;
      [still, sent] = [now === sent ? still + 1 : 0, now];
    }
    const rssKib = Number(
      /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${auditd.pid}/status`, "utf8"))![1],
    );
    t.ok(rssKib < 200 * 1024, `${rssKib} KiB`);
    auditd.signal("SIGTERM");
    t.equal(await auditd.ended(60_000), 0);
    t.equal((await readLeaves(auditd.logDir)).at(-1)?.type, "audit.stop");
  },
);

t.test(
  "connections beyond a few are closed, those that say nothing go, and whoever speaks is served",
  async (t) => {
    const auditd = await startedAuditd(t);
    const idle = Array.from({ length: 40 }, () =>
      connect(auditd.socket("appliance")).on("error", () => {}),
    );
    await Promise.all(idle.slice(0, 8).map((socket) => once(socket, "connect")));
    await Promise.all(idle.slice(8).map((socket) => untilClosed(socket.resume())));
    t.equal(idle.filter(({ closed }) => !closed).length, 8);
    await using producer = await connectProducer({
      socketPath: auditd.socket("appliance"),
      boot: "b-1",
    });
    await producer.fact(keyList());
  },
);

t.test(
  "heartbeats of many producers with long names fit into an entry, and are verified",
  async (t) => {
    const root = temporaryFolder(t);
    const producers = Array.from({ length: 64 }, (_, at) => ({
      ...{
        name: `node-${"x".repeat(54)}${String(at).padStart(4, "0")}`,
        family: "node",
        gid: null,
        occasional: true,
      },
      socket: join(root, "run", `p${at}`),
    }));
    const auditd = new AuditdFixture(root, { producers, heartbeatMs: 1_000 });
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    await auditd.start();
    for (const { socket } of producers) {
      await using producer = await connectProducer({
        socketPath: socket,
        boot: `${"b".repeat(27)}-${crypto.randomUUID()}`,
      });
      await producer.fact(keyList());
    }
    const readBeats = async () =>
      (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.heartbeat");
    const before = (await readBeats()).length;
    while ((await readBeats()).length < before + 2) await sleep(50);
    t.equal(await auditd.stop(), 0, auditd.output);
    const beats = await readBeats();
    t.match(beats.at(-1)?.detail, { vector: { producers: 65 } });
    t.match(await verified(auditd), { verdicts: { COMPLETENESS: { verdict: "PASS" } } });
  },
);

t.test("syncs of a checkpoint's files leave threads for the write-ahead log", async (t) => {
  const auditd = await startedAuditd(t);
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-1",
  });
  await producer.fact(keyList());
  const threads = readdirSync(`/proc/${auditd.pid}/task`).map((id) =>
    readFileSync(`/proc/${auditd.pid}/task/${id}/comm`, "utf8"),
  );
  t.ok(threads.filter((name) => name.startsWith("libuv-worker")).length > PARALLEL_WRITES);
});
