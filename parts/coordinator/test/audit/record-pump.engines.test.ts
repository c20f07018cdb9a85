/** What auditd refuses: rows spoilt in the transaction that writes them, against the real auditd. */
import { randomUUID } from "node:crypto";
import type { LeafRef } from "@resontech/audit/producer";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { CoreFixture, eventually } from "../kernel/core-fixture.ts";

type Spoil = (event: Record<string, unknown>) => void;

async function start(t: Test) {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const rows = () =>
    fixture.core.db
      .prepare<[], number>("SELECT pseq FROM audit_outbox ORDER BY pseq")
      .pluck()
      .all();
  await eventually(() => (rows().length === 0 ? true : null), "nothing is under way");
  /** Records of one transaction, the first one spoilt. */
  const record = async (count: number, spoil: Spoil) => {
    await fixture.core.commit.run((db) => {
      for (let n = 0; n < count; n += 1)
        fixture.core.record(db, {
          ...{ type: "iam.node.register", phase: "fact", op: randomUUID() },
          ...{ actor: { sub: "node-a", kind: "node" }, object: { kind: "node", id: "node-a" } },
          detail: { generation: 1, counter: n, workers: 1 },
        });
      const [first] = rows();
      const text = db
        .prepare<[number], string>("SELECT event FROM audit_outbox WHERE pseq = ?")
        .pluck()
        .get(first!)!;
      const event = JSON.parse(text) as Record<string, unknown>;
      spoil(event);
      db.prepare("UPDATE audit_outbox SET event = ? WHERE pseq = ?").run(
        JSON.stringify(event),
        first,
      );
    });
  };
  return { fixture, rows, record };
}

t.test(
  "what the log has taken last is kept with the rows that are gone, for the next life to show auditd",
  async (t) => {
    const { fixture, rows, record } = await start(t);
    const kept = () =>
      JSON.parse(
        fixture.core.db
          .prepare<[], string>("SELECT value FROM meta WHERE name = 'record-ack'")
          .pluck()
          .get()!,
      ) as LeafRef;
    await record(3, () => {});
    await eventually(() => (rows().length === 0 ? true : null), "all are taken");
    const leaf = await eventually(
      async () => (await readLeaves(fixture.auditd.logDir))[kept().index] ?? null,
      "a checkpoint covers the last",
    );
    t.match(leaf, { prod: "coordinator-record", detail: { counter: 2 } });
  },
);

t.test(
  "a record in whose place a refusal stands in the log is told of, and the next ones follow",
  async (t) => {
    const { fixture, rows, record } = await start(t);
    await record(3, (event) => {
      event["type"] = "no.such.event";
    });
    await eventually(() => (rows().length === 0 ? true : null), "the others are taken");
    t.equal(fixture.errors.length, 1, fixture.errors.join("\n"));
    t.match(fixture.errors[0], /^audit refused:/);
    t.equal(fixture.core.isReady().audit, true);
  },
);

t.test(
  "a record that the log has no place for is kept with all that follow: an alarm, and no new work",
  async (t) => {
    const { fixture, rows, record } = await start(t);
    const task = await fixture.task("later");
    await record(3, (event) => {
      event["boot"] = "g99";
    });
    await eventually(() => (fixture.errors.length > 0 ? true : null), "the alarm");
    t.match(fixture.errors[0], /^audit halted:/);
    t.equal(fixture.core.isReady().audit, false, "no requests are led here");
    await t.rejects(fixture.core.kernel.submit(task), { name: "Draining" });
    // What is recorded from now on waits as well.
    await fixture.core.commit.run((db) =>
      fixture.core.record(db, {
        ...{ type: "iam.node.lost", phase: "fact", op: randomUUID() },
        ...{ actor: { sub: "node-a", kind: "node" }, object: { kind: "node", id: "node-a" } },
        detail: { generation: 1, counter: 9 },
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    t.equal(rows().length, 4, "no row is forgotten");
    t.equal(fixture.errors.length, 1, "told once");
  },
);
