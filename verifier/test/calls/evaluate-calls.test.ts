import t from "tap";
import { inclusionProofs } from "@resontech/audit/format/tree/inclusion-proofs";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import { isIncluded } from "@resontech/audit/format/tree/proof-check";
import { CalledBatches } from "../../src/calls/called-batches.ts";
import { type CallsHead, readCallsHead } from "../../src/calls/calls-head.ts";
import { CallsJudge } from "../../src/calls/evaluate-calls.ts";
import type { Leaf } from "../../src/leaf/leaf.ts";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import { exitCode, nothingChecked, pass } from "../../src/verdicts.ts";

type Line = { kind: "line"; entry: number; at: number; text: string; proof: string[] };
type Batch = { kind: "batch"; entry: number; lines: number; root: string; gone?: true };
const call = (id: string, deployment: string): string =>
  JSON.stringify({ kind: "call", id, deployment });
const end = (id: string): string => JSON.stringify({ kind: "end", id });

/** Three batches at the entries 10, 20 and 30, and the records that an export of them has. */
const TEXTS: Readonly<Record<number, string[]>> = {
  10: [call("c1", "job-1"), call("c2", "job-2"), call("c3", "job-1")],
  20: [end("c1"), call("c4", "job-2")],
  30: [call("c5", "job-1")],
};
const leafOf = (texts: readonly string[], named = true): Leaf => {
  const calls = texts.map((text) => JSON.parse(text)).filter(({ kind }) => kind === "call");
  const { root } = inclusionProofs(texts.map((text) => hashLeaf(Buffer.from(text))));
  const called = calls.map(({ deployment }) => ({ deployment, calls: 1 }));
  return {
    ...{ type: "model.calls", t_log: "2026-03-01T00:00:00.000Z" },
    detail: {
      ...{ root: root.toString("hex"), lines: texts.length, calls: calls.length },
      ...(named ? { called } : {}),
    },
  } as unknown as Leaf;
};
function records(deployment: string | null): (Line | Batch)[] {
  const open = new Set<string>();
  return Object.entries(TEXTS).flatMap(([entry, texts]): (Line | Batch)[] => {
    const { root, paths } = inclusionProofs(texts.map((text) => hashLeaf(Buffer.from(text))));
    const lines = texts.flatMap((text, at) => {
      const said = JSON.parse(text);
      if (deployment !== null && said.deployment !== deployment && !open.has(said.id)) return [];
      open.add(said.id);
      const proof = paths[at]!.map((hash) => hash.toString("hex"));
      return [{ kind: "line", entry: Number(entry), at, text, proof } as const];
    });
    const head = { entry: Number(entry), lines: texts.length, root: root.toString("hex") };
    return lines.length === 0 ? [] : [{ kind: "batch", ...head }, ...lines];
  });
}
const HEAD: CallsHead = {
  ...{ origin: "box.audit.acme/2026", size: 40, from: null, to: null, deployment: null },
};
async function judged(
  lines: readonly (Line | Batch)[],
  { head = HEAD, logSize = 40, named = true } = {},
) {
  const batches = new CalledBatches(head);
  for (const [entry, texts] of Object.entries(TEXTS))
    batches.note(leafOf(texts, named), Number(entry));
  async function* bytes() {
    for (const line of lines) yield Buffer.from(JSON.stringify(line));
  }
  return await new CallsJudge(head, batches.all, nodePlatform).judge(bytes(), logSize);
}
const isLine = (record: Line | Batch): record is Line => record.kind === "line";

t.test("the proof of each leaf of a small tree leads to its root, and to no other place", (t) => {
  for (let size = 1; size <= 33; size += 1) {
    const hashes = Array.from({ length: size }, (_, at) => hashLeaf(Buffer.from(`leaf ${at}`)));
    const { root, paths } = inclusionProofs(hashes);
    t.ok(
      hashes.every((hash, at) => isIncluded(at, hash, size, root, paths[at]!)),
      `${size}`,
    );
    if (size > 1) t.notOk(isIncluded(1, hashes[0]!, size, root, paths[0]!));
  }
  t.end();
});

t.test("an export of all calls passes, and so does one of a deployment", async (t) => {
  t.match(await judged(records(null)), {
    judged: { verdict: "PASS" },
    ...{ batches: 3, lines: 6, calls: 5, gone: 0, line: null },
  });
  const head = { ...HEAD, deployment: "job-1" };
  t.match(await judged(records("job-1"), { head }), {
    judged: { verdict: "PASS" },
    ...{ batches: 3, lines: 4, calls: 3 },
  });
});

t.test("a changed, a missing and an added call is found, and named by its line", async (t) => {
  const all = records(null);
  const changed = all.map((record, at) =>
    at === 3 ? { ...(record as Line), text: call("c3", "job-9") } : record,
  );
  t.match(await judged(changed), {
    judged: { verdict: "FAIL", index: 10, reason: /^line 5 of the calls: the call c3 / },
    line: 5,
  });
  t.match(await judged(all.filter((_, at) => at !== 2)), {
    judged: { verdict: "FAIL", index: 10, reason: /before it 1 lines are missing/ },
  });
  t.match(await judged(all.filter(({ entry }) => entry !== 20)), {
    judged: { verdict: "FAIL", index: 20, reason: /its batch of calls is missing/ },
  });
  t.match(await judged(all.filter(({ entry }) => entry !== 30)), {
    judged: { verdict: "FAIL", index: 30, reason: /its batch of calls is missing/ },
  });
  const [first] = all.filter(isLine);
  t.match(await judged([...all, { ...first!, entry: 30, at: 1 }]), {
    judged: { verdict: "FAIL", index: 30, reason: /is not what the log says/ },
    line: all.length + 2,
  });
  t.match(await judged([...all, { ...(all[0] as Batch), entry: 35 }]), {
    judged: { verdict: "FAIL", index: 35, reason: /the log has no batch/ },
  });
  t.match(await judged([...all.slice(0, 3), all[2]!, ...all.slice(3)]), {
    judged: { verdict: "FAIL", reason: /comes twice/ },
  });
  const head = { ...HEAD, deployment: "job-1" };
  const without = records("job-1").filter(
    (record) => !isLine(record) || !record.text.includes("c3"),
  );
  t.match(await judged(without, { head }), {
    judged: { verdict: "FAIL", index: 10, reason: /1 calls, and the log has 2/ },
  });
});

t.test("what nobody can say is not passed", async (t) => {
  const all = records(null);
  const gone = [...all.filter(({ entry }) => entry !== 20)].toSpliced(4, 0, {
    ...(all[4] as Batch),
    gone: true,
  });
  t.match(await judged(gone), {
    judged: { verdict: "NOT CHECKED", reason: /1 batches more are erased/ },
    gone: 1,
  });
  t.match(await judged(all, { logSize: 35 }), {
    judged: { verdict: "NOT CHECKED", reason: /give an export that is not older/ },
  });
  const head = { ...HEAD, deployment: "job-1" };
  const unnamed = records("job-1");
  t.match(await judged(unnamed, { head, named: false }), {
    judged: { verdict: "NOT CHECKED", reason: /do not name every deployment/ },
  });
  const verdicts = nothingChecked("");
  t.equal(exitCode(verdicts, false, [], false, { verdict: "FAIL", reason: "" }), 32);
  t.equal(exitCode(verdicts, false, [], false, { verdict: "NOT CHECKED", reason: "" }), 65);
  t.equal(exitCode(verdicts, false, [], false, pass("")), 0);
});

t.test("a file that is no export of calls, or one of broken lines, is told so", async (t) => {
  const read = (value: unknown) => () => readCallsHead(Buffer.from(JSON.stringify(value)));
  const head = { kind: "calls", v: 1, ...HEAD };
  t.match(read(head)(), HEAD);
  for (const wrong of [
    ...[{ ...head, v: 2 }, { ...head, size: -1 }, { ...head, from: "today" }, [], null],
    { ...head, deployment: "a b" },
  ])
    t.throws(read(wrong), { message: /no export of the journal/ });
  for (const wrong of [{}, { kind: "line" }, { kind: "line", entry: 10 }, { kind: "x", entry: 1 }])
    t.match(await judged([wrong as unknown as Line]), { judged: { verdict: "FAIL" }, line: 2 });
});
