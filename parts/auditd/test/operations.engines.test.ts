import { setTimeout as sleep } from "node:timers/promises";
import { inHundreds } from "@resontech/audit/testing/in-hundreds";
import t from "tap";
import { connectProducer } from "@resontech/audit/producer";
import { jobSubmit } from "@resontech/audit/testing/event-drafts";
import { startedAuditd } from "./helper/auditd-fixture.ts";

t.test("events get indices and survive a restart", async (t) => {
  const auditd = await startedAuditd(t);
  await using producer = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b-1",
  });
  const op = crypto.randomUUID();
  const first = await producer.requested(jobSubmit(op));
  t.match(first, { index: Number, leafHash: /^[0-9a-f]{64}$/ });
  t.match(await producer.openOperations(), [
    { op, type: "job.submit", prod: "coordinator-gate", overdue: false },
  ]);
  const done = await producer.outcome({
    ...jobSubmit(op),
    phase: "completed",
    outcome: { code: "ok", status: 200 },
  });
  t.equal(done.index, first.index + 1);
  t.same(await producer.openOperations(), []);
  const { checkpointSize } = await producer.covered(done.index);
  t.ok(checkpointSize > done.index);
  const acks = await inHundreds(2000, () =>
    producer.fact({
      type: "key.list",
      op: crypto.randomUUID(),
      actor: { sub: "u", kind: "user" },
      object: { kind: "user", id: "u" },
    }),
  );
  t.equal(acks.at(-1)!.index, done.index + 2000);
  await auditd.stop();
  await auditd.start();
  // Past two seconds without a connection a producer refuses at once: a busy machine may need them for the start.
  while (!producer.connected) await sleep(20);
  await producer.fact({
    type: "key.list",
    op: crypto.randomUUID(),
    actor: { sub: "u", kind: "user" },
    object: { kind: "user", id: "u" },
  });
  await producer.close();
  t.equal(await auditd.stop(), 0);
});
