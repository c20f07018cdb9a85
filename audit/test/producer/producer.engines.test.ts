import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import {
  ACKNOWLEDGEMENT_TIMEOUT_MS,
  AuditRejected,
  AuditUnavailable,
  composeEvent,
  connectProducer,
  connectRecordProducer,
} from "../../src/producer/producer.ts";
import { jobSubmit, keyList } from "../helper/event-drafts.ts";
import { readLeaves } from "../helper/read-leaves.ts";
import { startedAuditd } from "@resontech/auditd/testing/auditd-fixture";
import { temporaryFolder } from "@resontech/house/temporary-folder";

/** auditd has been away for longer than anybody waits for it. */
async function awayForLong(t: Test, producer: { readonly connected: boolean }): Promise<void> {
  while (producer.connected) await sleep(20);
  const clock = performance.now.bind(performance);
  t.intercept(performance, "now", { value: () => clock() + ACKNOWLEDGEMENT_TIMEOUT_MS + 100 });
}

t.test(
  "without a durable acknowledgement in 2 s the effect must not happen, and the log closes what came late",
  async (t) => {
    t.equal(ACKNOWLEDGEMENT_TIMEOUT_MS, 2_000);
    const auditd = await startedAuditd(t);
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    process.kill(auditd.pid, "SIGSTOP");
    const op = crypto.randomUUID();
    // Timers of one process end in the order of their times, however busy the machine is.
    const order: string[] = [];
    const later = Promise.withResolvers<void>();
    setTimeout(() => order.push("1.9 s"), 1_900);
    setTimeout(() => later.resolve(void order.push("2.5 s")), 2_500);
    const refused = producer.requested(jobSubmit(op)).finally(() => order.push("refused"));
    await t.rejects(refused, { code: "audit_unavailable", reason: "timeout" });
    await later.promise;
    t.same(order, ["1.9 s", "refused", "2.5 s"]);
    process.kill(auditd.pid, "SIGCONT");
    const written = async () =>
      (await readLeaves(auditd.logDir)).filter((leaf) => leaf.op === op).length;
    while ((await written()) < 2) await sleep(20);
    t.same(await producer.openOperations(), [], "nothing is left open");
    await producer.close();
    await auditd.stop();
    const about = (await readLeaves(auditd.logDir)).filter((leaf) => leaf.op === op);
    t.match(about, [
      { phase: "requested" },
      { phase: "failed", outcome: { code: "audit_timeout" } },
    ]);
  },
);

t.test(
  "while auditd is away requests fail at once and leave nothing behind; it goes on when auditd is back",
  async (t) => {
    const auditd = await startedAuditd(t);
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    await producer.fact(keyList());
    await auditd.stop("SIGKILL");
    await awayForLong(t, producer);
    // Who had waited for it would say `timeout`.
    await t.rejects(producer.requested(jobSubmit()), {
      code: "audit_unavailable",
      reason: "disconnected",
    });
    await auditd.start();
    while (!producer.connected) await sleep(20);
    t.match(await producer.fact(keyList()), { index: Number });
    await producer.close();
    await t.rejects(producer.fact(keyList()), { code: "audit_unavailable", reason: "closed" });
    await auditd.stop();
    const leaves = await readLeaves(auditd.logDir);
    t.equal(leaves.filter(({ type }) => type === "job.submit").length, 0);
  },
);

t.test(
  "an outcome that auditd was away for reaches the log when it is back: its effect has happened",
  async (t) => {
    const auditd = await startedAuditd(t);
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    const op = crypto.randomUUID();
    const draft = jobSubmit(op);
    await producer.requested(draft);
    await auditd.stop("SIGKILL");
    await awayForLong(t, producer);
    const { type, actor, object } = draft;
    await t.rejects(producer.outcome({ type, op, actor, object, phase: "completed" }), {
      code: "audit_unavailable",
      reason: "timeout",
    });
    await auditd.start();
    while (!producer.connected) await sleep(20);
    await producer.fact(keyList());
    t.same(await producer.openOperations(), []);
    await producer.close();
    await auditd.stop();
    const about = (await readLeaves(auditd.logDir)).filter((leaf) => leaf.op === op);
    t.match(about, [{ phase: "requested" }, { phase: "completed", outcome: { code: "ok" } }]);
  },
);

t.test(
  "what was observed while auditd is away waits for it, and stands in the log once",
  async (t) => {
    const auditd = await startedAuditd(t);
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    await auditd.stop("SIGKILL");
    const draft = {
      type: "auth.host.logout",
      op: crypto.randomUUID(),
      actor: { sub: "supervisor", kind: "system" },
      object: { kind: "appliance", id: "appliance" },
      detail: { source: "wtmp", at: "2026-01-31T23:59:59.999Z", lag_ms: 0, pid: 1 },
    } as const;
    const recorded = producer.observed(draft);
    t.equal(
      await Promise.race([recorded, sleep(ACKNOWLEDGEMENT_TIMEOUT_MS + 100, "waits")]),
      "waits",
    );
    await auditd.start();
    t.match(await recorded, { index: Number });
    const wrong = { ...draft, object: { kind: "user", id: "usr-1" } } as const;
    await t.rejects(producer.observed(wrong), { code: "audit_rejected", reason: "object_kind" });
    await auditd.stop();
    const leaves = (await readLeaves(auditd.logDir)).filter(
      ({ type }) => type === "auth.host.logout",
    );
    t.match(leaves, [{ phase: "observed" }]);
    t.equal(leaves.length, 1);
    const unsent = t.rejects(producer.observed(draft), {
      code: "audit_unavailable",
      reason: "closed",
    });
    await producer.close();
    await unsent;
  },
);

t.test(
  "what was sent and not acknowledged is sent again after a reconnect, once into the log",
  async (t) => {
    const auditd = await startedAuditd(t);
    // The one that waits however long: a start of auditd takes its time on a busy machine.
    await using producer = await connectRecordProducer({
      socketPath: auditd.socket("coordinator-record"),
      boot: "7",
    });
    process.kill(auditd.pid, "SIGSTOP");
    const waiting = Array.from({ length: 50 }, (_, at) =>
      producer.append(composeEvent({ ...keyList(), phase: "fact" }, { boot: "7", pseq: at + 1 })),
    );
    // They are written to the socket by then.
    await new Promise(setImmediate);
    await auditd.stop("SIGKILL");
    await auditd.start();
    const refs = await Promise.all(waiting);
    t.equal(new Set(refs.map(({ index }) => index)).size, 50);
    await producer.close();
    await auditd.stop();
    t.equal((await readLeaves(auditd.logDir)).filter(({ type }) => type === "key.list").length, 50);
  },
);

t.test(
  "an operation is requested once, closed once, by its own family, with its own type",
  async (t) => {
    const auditd = await startedAuditd(t);
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    await using record = await connectProducer({
      socketPath: auditd.socket("coordinator-record"),
      boot: "7",
    });
    await using other = await connectProducer({
      socketPath: auditd.socket("appliance"),
      boot: "a",
    });
    const op = crypto.randomUUID();
    const done = { ...jobSubmit(op), phase: "completed", outcome: { code: "ok" } } as const;
    await gate.requested(jobSubmit(op));
    await t.rejects(gate.requested(jobSubmit(op)), {
      code: "audit_rejected",
      reason: "operation_exists",
    });
    await t.rejects(other.outcome(done), { code: "audit_rejected", reason: "operation_family" });
    await t.rejects(
      record.outcome({
        type: "job.cancel",
        op,
        phase: "completed",
        outcome: { code: "ok" },
        actor: done.actor,
        object: done.object,
      }),
      { code: "audit_rejected", reason: "operation_type" },
    );
    t.match(
      await record.openOperations(),
      [{ op, prod: "coordinator-gate" }],
      "the family's other member sees it",
    );
    t.same(await other.openOperations(), []);
    t.match(await record.outcome(done), { index: Number });
    await t.rejects(record.outcome(done), { code: "audit_rejected", reason: "operation_unknown" });
    await t.rejects(gate.requested(jobSubmit(op)), {
      code: "audit_rejected",
      reason: "operation_exists",
    });
    await Promise.all([gate.close(), record.close(), other.close()]);
  },
);

t.test("tells the highest generation that was ever logged, also after a restart", async (t) => {
  const auditd = await startedAuditd(t);
  const start = (generation: number) =>
    ({
      type: "admin.coordinator.start",
      op: crypto.randomUUID(),
      actor: { sub: "coordinator", kind: "system" },
      object: { kind: "process", id: "coordinator" },
      detail: { generation, version: "0.1.0" },
    }) as const;
  await using producer = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b",
  });
  t.equal((await producer.status()).highestGeneration, 0);
  await producer.fact(start(7));
  await producer.fact(start(3));
  t.match(await producer.status(), {
    highestGeneration: 7,
    draining: false,
    origin: `${auditd.config.originPrefix}/${auditd.config.inception.slice(0, 4)}`,
  });
  await auditd.stop();
  await auditd.start();
  while (!producer.connected) await sleep(20);
  t.equal((await producer.status()).highestGeneration, 7);
  await producer.close();
});

t.test("one life of a producer at a time; the next waits for its turn", async (t) => {
  const auditd = await startedAuditd(t);
  const path = auditd.socket("appliance");
  await using first = await connectProducer({ socketPath: path, boot: "one" });
  const second = connectProducer({ socketPath: path, boot: "two" });
  t.teardown(() => second.then((producer) => producer.close()).catch(() => {}));
  const third = connectProducer({ socketPath: path, boot: "three", connectTimeoutMs: 100 });
  await t.rejects(third, AuditUnavailable);
  t.match(await first.fact(keyList()), { index: Number });
  await first.close();
  t.match(await (await second).fact(keyList()), { index: Number });
  await (await second).close();
});

t.test("a draft that breaks a rule is refused before it has a number", async (t) => {
  const auditd = await startedAuditd(t);
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b",
  });
  await t.rejects(
    producer.fact({ ...keyList(), action: "GET /api/keys?name=Ada Lovelace" }),
    AuditRejected,
  );
  await t.rejects(producer.fact({ ...keyList(), object: { kind: "job", id: "j" } }), {
    code: "audit_rejected",
    reason: "object_kind",
  });
  const { index } = await producer.fact(keyList());
  await producer.close();
  await auditd.stop();
  const leaf = (await readLeaves(auditd.logDir))[index];
  t.match(leaf, { prod: "appliance", pseq: 1, type: "key.list" });
});

t.test("says why it could not connect", async (t) => {
  await t.rejects(
    connectProducer({
      socketPath: `${temporaryFolder(t)}/none.sock`,
      boot: "b",
      connectTimeoutMs: 100,
    }),
    {
      code: "audit_unavailable",
      message: /ENOENT/,
    },
  );
});
