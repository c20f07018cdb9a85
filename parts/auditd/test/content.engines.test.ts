import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import t, { type Test } from "tap";
import { commitmentOf } from "@resontech/audit/format/event/commitment";
import {
  type ComposedEvent,
  commitment,
  committer,
  composeEvent,
  connectProducer,
} from "@resontech/audit/producer";
import {
  encodeAppend,
  encodeFrame,
  encodeJsonFrame,
  FRAME,
  FrameReader,
  MAX_AUDITD_FRAME_BYTES,
} from "@resontech/audit/format/wire/frames";
import { type AuditdFixture, startedAuditd } from "./helper/auditd-fixture.ts";
import { jobSubmit, keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { untilClosed } from "@resontech/house/until-closed";

/** A producer that obeys no rule. */
class RawProducer {
  readonly socket: Socket;
  readonly #frames: { kind: number; payload: unknown }[] = [];
  #wake: () => void = () => {};
  #ended = false;

  constructor(path: string) {
    const reader = new FrameReader(MAX_AUDITD_FRAME_BYTES);
    this.socket = connect(path);
    this.socket.on("data", (chunk: Buffer) => {
      for (const { kind, payload } of reader.push(chunk))
        this.#frames.push({ kind, payload: JSON.parse(payload.toString()) });
      this.#wake();
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  hello(boot: string, firstPseq = 1): Promise<{ kind: number; payload: unknown } | null> {
    this.socket.write(encodeJsonFrame(FRAME.hello, { v: 1, boot, firstPseq }));
    return this.next();
  }

  append(
    event: string | Buffer,
    disclosures: readonly unknown[] = [],
  ): Promise<{ kind: number; payload: unknown } | null> {
    this.socket.write(encodeAppend(Buffer.from(event), disclosures));
    return this.next();
  }

  /** Null when the connection ended. */
  async next(): Promise<{ kind: number; payload: unknown } | null> {
    while (this.#frames.length === 0 && !this.#ended)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#frames.shift() ?? null;
  }
}

async function rawProducer(t: Test, auditd: AuditdFixture, boot: string): Promise<RawProducer> {
  const raw = new RawProducer(auditd.socket("coordinator-gate"));
  t.teardown(() => raw.socket.destroy());
  t.match(await raw.hello(boot), { kind: FRAME.welcome });
  return raw;
}

const composed = (pseq: number, changes: object = {}): ComposedEvent =>
  composeEvent({ ...keyList(), phase: "fact", ...changes }, { boot: "b", pseq });
type Editable = Record<string, unknown> & { object: { kind: string } };
const edited = (pseq: number, edit: (event: Editable) => void): string => {
  const event = JSON.parse(composed(pseq).event) as Editable;
  edit(event);
  return JSON.stringify(
    Object.fromEntries(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
};

t.test(
  "a producer of another release says its versions, and fields that are not known here are passed over",
  async (t) => {
    const auditd = await startedAuditd(t);
    const newer = new RawProducer(auditd.socket("coordinator-gate"));
    t.teardown(() => newer.socket.destroy());
    newer.socket.write(
      encodeJsonFrame(FRAME.hello, {
        v: { min: 1, max: 9 },
        boot: "b",
        firstPseq: 1,
        ofANewerRelease: { deep: [1] },
      }),
    );
    t.match(await newer.next(), {
      kind: FRAME.welcome,
      payload: { v: 1, prod: "coordinator-gate", lastPseq: 0 },
    });
    newer.socket.write(
      encodeJsonFrame(FRAME.query, { id: 1, verb: "open-operations", ofANewerRelease: 1 }),
    );
    t.match(await newer.next(), { kind: FRAME.reply, payload: { id: 1, operations: [] } });
  },
);

t.test(
  "a producer without a common version is sent away by name, and the log says nothing of it",
  async (t) => {
    const auditd = await startedAuditd(t);
    const newer = new RawProducer(auditd.socket("coordinator-gate"));
    t.teardown(() => newer.socket.destroy());
    newer.socket.write(
      encodeJsonFrame(FRAME.hello, { v: { min: 2, max: 3 }, boot: "b", firstPseq: 1 }),
    );
    t.match(await newer.next(), {
      kind: FRAME.goodbye,
      payload: {
        reason: "protocol_unsupported",
        message: /the producer coordinator-gate speaks audit wire 2 to 3, auditd 1: upgrade auditd/,
      },
    });
    t.equal(await newer.next(), null);
    t.notOk(
      (await readLeaves(auditd.logDir)).some(({ object }) => object.id === "coordinator-gate"),
    );
    const present = await rawProducer(t, auditd, "b");
    t.match(await present.append(composed(1).event), { kind: FRAME.acks });
  },
);

t.test(
  "content that breaks a rule is refused, logged in its place, and refused again when repeated",
  async (t) => {
    const auditd = await startedAuditd(t);
    const raw = await rawProducer(t, auditd, "b");
    const bad: [reason: string, event: (pseq: number) => string][] = [
      ["not_canonical", (pseq) => composed(pseq).event.replace('{"actor"', '{ "actor"')],
      ["not_canonical", (pseq) => composed(pseq).event.replace('"v":1}', '"v":1,"v":1}')],
      ["not_canonical", (pseq) => composed(pseq).event.replace('"usr-1"', '"usr\\u002d1"')],
      ["number", (pseq) => composed(pseq).event.replace('"v":1', '"v":1.5')],
      ["surrogate", (pseq) => composed(pseq).event.replace('"usr-1"', '"\\ud800"')],
      [
        "depth",
        (pseq) =>
          edited(pseq, (event) => (event["detail"] = { a: { b: { c: { d: { e: { f: 1 } } } } } })),
      ],
      ["too_long", (pseq) => edited(pseq, (event) => (event["action"] = "a".repeat(16_400)))],
      ["schema", (pseq) => edited(pseq, (event) => (event["unknown"] = 1))],
      ["schema", (pseq) => edited(pseq, (event) => (event["detail"] = { name: "Ada" }))],
      ["schema", (pseq) => edited(pseq, (event) => delete event["actor"])],
      ["type", (pseq) => edited(pseq, (event) => (event["type"] = "job.paint"))],
      [
        "schema_version",
        (pseq) => edited(pseq, (event) => (event["schema_sha256"] = "0".repeat(64))),
      ],
      ["object_kind", (pseq) => edited(pseq, (event) => (event.object.kind = "job"))],
      ["time", (pseq) => edited(pseq, (event) => (event["t"] = "2026-02-30T00:00:00.000Z"))],
      ["schema", (pseq) => edited(pseq, (event) => (event["prod"] = "auditd"))],
      [
        "operation_unknown",
        (pseq) =>
          composeEvent(
            { ...jobSubmit(), phase: "completed", outcome: { code: "ok" } },
            { boot: "b", pseq },
          ).event,
      ],
      [
        "reserved_type",
        (pseq) => {
          const vouched = {
            type: "audit.clock.vouched",
            phase: "fact",
            op: crypto.randomUUID(),
            detail: {},
          } as const;
          const about = {
            actor: { sub: "x", kind: "operator" },
            object: { kind: "log", id: "auditd" },
          } as const;
          return composeEvent({ ...vouched, ...about }, { boot: "b", pseq }).event;
        },
      ],
      [
        "reserved_type",
        (pseq) =>
          composeEvent(
            {
              type: "audit.wal.cut",
              phase: "fact",
              op: crypto.randomUUID(),
              actor: { sub: "x", kind: "system" },
              object: { kind: "log", id: "x" },
              detail: { index: 1, bytes: 1 },
            },
            { boot: "b", pseq },
          ).event,
      ],
    ];
    let pseq = 0;
    for (const [reason, make] of bad) {
      pseq += 1;
      const event = make(pseq);
      t.match(
        await raw.append(event),
        { kind: FRAME.refusal, payload: { pseq, reason, settled: true } },
        reason,
      );
      t.match(
        await raw.append(event),
        { kind: FRAME.refusal, payload: { pseq, reason } },
        `${reason} again`,
      );
    }
    const good = composed(pseq + 1);
    t.match(await raw.append(good.event), { kind: FRAME.acks }, "the sequence goes on");
    raw.socket.destroy();
    await auditd.stop();
    const leaves = await readLeaves(auditd.logDir);
    const refusals = leaves.filter(({ type }) => type === "audit.rejected");
    t.same(
      refusals.map(({ detail }) => detail?.["reason"]),
      bad.map(([reason]) => reason),
      "one leaf for each",
    );
    t.ok(refusals.every(({ detail }) => detail?.["taken"] === true));
  },
);

t.test(
  "a number used before takes the same bytes alone, also after a restart; other bytes and gaps end the connection",
  async (t) => {
    const auditd = await startedAuditd(t);
    const event = composed(1).event;
    let raw = await rawProducer(t, auditd, "b");
    const first = await raw.append(event);
    t.match(first, { kind: FRAME.acks });
    t.same(await raw.append(event), first);
    await auditd.stop();
    await auditd.start();
    raw = await rawProducer(t, auditd, "b");
    t.same(await raw.append(event), first, "after a restart");
    t.match(await raw.append(composed(1).event), {
      kind: FRAME.refusal,
      payload: { reason: "pseq_used", settled: false },
    });
    t.match(await raw.next(), { kind: FRAME.goodbye });
    raw = await rawProducer(t, auditd, "b");
    t.match(await raw.append(composed(3).event), {
      kind: FRAME.refusal,
      payload: { reason: "pseq_gap", settled: false },
    });
    t.match(await raw.next(), { kind: FRAME.goodbye });
    raw = await rawProducer(t, auditd, "c");
    raw.socket.destroy();
    await untilClosed(raw.socket);
    const old = new RawProducer(auditd.socket("coordinator-gate"));
    t.match(
      await old.hello("b"),
      { kind: FRAME.goodbye, payload: { reason: "boot_superseded" } },
      "a life that ended does not come back",
    );
    old.socket.destroy();
  },
);

t.test("no bytes on a socket bring auditd down or into the log unseen", async (t) => {
  const auditd = await startedAuditd(t);
  await using watch = await connectProducer({ socketPath: auditd.socket("appliance"), boot: "w" });
  let boot = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc
          .tuple(fc.constantFrom(1, 2, 3, 9), fc.uint8Array({ maxLength: 100 }))
          .map(([kind, payload]) => encodeFrame(kind as 1, Buffer.from(payload))),
        fc.json().map((text) => encodeAppend(Buffer.from(text), [])),
        fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]) => {
          const event = Buffer.from(composed(1).event);
          event[at % event.length] = byte;
          return encodeAppend(event, []);
        }),
        fc
          .json()
          .map((text) =>
            encodeFrame(
              FRAME.append,
              Buffer.concat([Buffer.from([0, 0, 0, 2]), Buffer.from(`{}${text}`)]),
            ),
          ),
      ),
      fc.boolean(),
      async (bytes, saysHello) => {
        const raw = new RawProducer(auditd.socket("coordinator-gate"));
        boot += 1;
        if (saysHello) await raw.hello(`fuzz-${boot}`);
        raw.socket.end(bytes);
        await untilClosed(raw.socket);
      },
    ),
    { numRuns: 300 },
  );
  t.match(await watch.fact(keyList()), { index: Number });
  await watch.close();
  t.equal(await auditd.stop(), 0);
  const leaves = await readLeaves(auditd.logDir);
  const fuzzed = leaves.filter(({ prod }) => prod === "coordinator-gate");
  t.ok(fuzzed.length <= 3, `${fuzzed.length} mutations happened to be sound events`);
});

t.test("personal values reach the sidecar alone", async (t) => {
  const auditd = await startedAuditd(t);
  const canary = "Canary-Ada-Lovelace";
  await using producer = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b",
  });
  const commit = committer();
  const draft = {
    ...jobSubmit(),
    actor: { sub: "usr-1", kind: "user", sid: commit("actor.sid", `${canary}-session`) } as const,
    src: {
      addr: commit("src.addr", `${canary}-10.0.0.1`),
      agent: commit("src.agent", `${canary}-agent`),
    },
    digests: {
      input: commit("digests.input", `${canary}-input`),
      output: commit("digests.output", `${canary}-output`),
    },
    pii: [
      { field: "path" as const, commitment: commit("pii.path", `/jobs/${canary}`) },
      { field: "task-name" as const, commitment: commit("pii.task-name", canary) },
    ],
  };
  await producer.requested(draft, commit.disclosures);
  const path = commitment("object.id", `jobs/${canary}/shard.zip`);
  const { index } = await producer.fact(
    {
      type: "data.stage",
      op: crypto.randomUUID(),
      actor: { sub: "node-1", kind: "node" },
      object: { kind: "object", id: path.commitment },
      detail: { job: "job-1" },
    },
    [path.disclosure],
  );
  await producer.covered(index);
  await producer.close();
  await auditd.stop();
  const { logDir } = auditd;
  const holding: string[] = [];
  for (const file of readdirSync(logDir, { recursive: true, encoding: "utf8" }))
    if (
      statSync(join(logDir, file)).isFile() &&
      readFileSync(join(logDir, file)).includes("Canary")
    )
      holding.push(file);
  t.match(holding, [/^disclosures\/[0-9]{16}\.jsonl$/]);
  t.equal(holding.length, 1);
  const sidecar = join(logDir, holding[0]!);
  t.equal(statSync(sidecar).mode & 0o777, 0o600);
  const lines = readFileSync(sidecar, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  t.equal(lines.length, commit.disclosures.length + 1);
  for (const { field, salt, value, commitment: stated } of lines) {
    t.equal(commitmentOf(field, salt, value), stated, field);
    const byHand = createHash("sha256")
      .update(`sov-pii-v1\0${field}\0`)
      .update(Buffer.from(salt, "hex"))
      .update(value)
      .digest("hex");
    t.equal(stated, byHand, "as the design writes it");
  }
});

t.test("a disclosure that opens nothing, or something else, refuses the event", async (t) => {
  const auditd = await startedAuditd(t);
  const raw = await rawProducer(t, auditd, "b");
  const { commitment: id, disclosure } = commitment("object.id", "jobs/a/b");
  const event = (pseq: number) =>
    composeEvent(
      {
        type: "data.stage",
        phase: "fact",
        op: crypto.randomUUID(),
        actor: { sub: "n", kind: "node" },
        object: { kind: "object", id },
        detail: { job: "j" },
      },
      { boot: "b", pseq },
    ).event;
  t.match(await raw.append(event(1), [{ ...disclosure, value: "jobs/a/c" }]), {
    payload: { reason: "disclosure_mismatch" },
  });
  t.match(await raw.append(event(2), [{ ...disclosure, field: "src.addr" }]), {
    payload: { reason: "disclosure_unknown" },
  });
  t.match(await raw.append(event(3), [disclosure, disclosure]), {
    payload: { reason: "disclosure_unknown" },
  });
  t.match(await raw.append(event(4), ["nonsense"]), {
    payload: { reason: "disclosure_malformed" },
  });
  t.match(await raw.append(event(5), [disclosure]), { kind: FRAME.acks });
  t.match(await raw.append(event(6)), { kind: FRAME.acks }, "an earlier leaf has disclosed it");
});
