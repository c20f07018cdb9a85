import t from "tap";
import type { Leaf } from "../../src/verifier/leaf.ts";
import { Operations } from "../../src/verifier/operations.ts";
import { nodePlatform } from "../../src/verifier/platform-node.ts";
import { Sequences } from "../../src/verifier/sequences.ts";

const said = (changes: Partial<Leaf>): Leaf => ({
  ...{ op: "op", type: "job.submit", phase: "requested", t: "", t_log: "2026-03-01T08:00:00.000Z", prod: "auditd", boot: "a" },
  ...{ pseq: 1, actor: { sub: "auditd" }, object: { kind: "producer", id: "p" }, schema_sha256: "" },
  ...changes,
});

t.test("a log that begins producers without end is told, and takes no more memory", async (t) => {
  const sequences = new Sequences(nodePlatform.sha256);
  const begun = (at: number): string | null =>
    sequences.fault(
      said({
        type: "audit.producer.start",
        pseq: at + 1,
        object: { kind: "producer", id: `p-${at}` },
        detail: { boot: "b", first_pseq: 1 },
      }),
      at,
    );
  sequences.fault(said({ type: "audit.shard.open" }), 0);
  for (let at = 1; at < 10_000; at++) if (begun(at) !== null) t.fail(`${at}`);
  t.match(begun(10_000), /over 10000 producers/);
  t.equal(sequences.count, 10_000);
});

t.test("a log that opens operations without end is told, also where a shard carries them on", async (t) => {
  for (const type of ["job.submit", "audit.op.carried"]) {
    const operations = new Operations();
    const detail = { type: "job.submit", logged_at: "2026-03-01T08:00:00.000Z" };
    for (let at = 0; at < 200_000; at++) operations.fault(said({ type, op: `op-${at}`, detail }), at);
    t.match(operations.fault(said({ type, op: "one more", detail }), 200_000), /over 200000 operations are open/, type);
    t.equal(operations.atEnd(0).open, 200_000, type);
  }
});
