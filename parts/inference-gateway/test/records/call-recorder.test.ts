import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { CallBegun, CallEnded } from "../../src/records/call-line.ts";
import { CallJournal } from "../../src/records/call-journal.ts";
import { EndNotes } from "../../src/records/end-notes.ts";
import { calledBy } from "../../src/records/called-by.ts";
import { CallRecorder } from "../../src/records/call-recorder.ts";

const begun = (id: string): CallBegun => ({
  ...{
    kind: "call",
    id,
    at: "2026-01-01T00:00:00.000Z",
    deployment: "d",
    project: "p",
    call: "predict",
  },
  ...{ replica: "r", keySha256: "0".repeat(64), requestSha256: "0".repeat(64), requestBytes: 0 },
});
const ended = (id: string): CallEnded => ({
  ...{ kind: "end", id, at: "2026-01-01T00:00:01.000Z", outcome: "answered", status: 200 },
  ...{ answerSha256: "0".repeat(64), answerBytes: 0, usage: null },
});
type Sent = { detail?: { calls: number; ends: number } };

async function recorderOf(t: Test, fact: (draft: Sent) => Promise<void>) {
  const dir = t.testdir();
  const { journal } = await CallJournal.open(dir);
  const { notes } = EndNotes.open(dir);
  t.teardown(() => notes[Symbol.dispose]());
  const producer = {
    connected: true,
    fact: async (draft: Sent) => {
      await fact(draft);
      return { index: 0, leafHash: "" };
    },
  };
  const recorder = new CallRecorder(journal, notes, producer as never, () => {});
  t.teardown(async () => {
    await recorder[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });
  return recorder;
}

t.test("calls that come while a batch is written go together", async (t) => {
  const batches: number[] = [];
  const recorder = await recorderOf(t, async ({ detail }) => {
    batches.push(detail?.calls ?? 0);
    await sleep(20);
  });
  await Promise.all(Array.from({ length: 300 }, (_, at) => recorder.begin(begun(`c${at}`))));
  t.same(batches, [1, 256, 43], "the first at once, then as many as a batch holds");
});

t.test("a line of the way out is on record, and is neither a call nor an end", async (t) => {
  const seen: Sent[] = [];
  const recorder = await recorderOf(t, async (draft) => void seen.push(draft));
  await recorder.note({
    ...{ kind: "out", id: "c", at: "2026-01-01T00:00:00.000Z", deployment: "d", project: "p" },
    ...{ purpose: "fetch", to: "a.example:443", step: "begun", urlSha256: "0".repeat(64) },
  });
  t.match(seen, [{ detail: { lines: 1, calls: 0, ends: 0 } }]);
});

t.test(
  "a batch that the log does not take is no call on record, and its ends are kept",
  async (t) => {
    let isThere = false;
    const seen: Sent[] = [];
    const recorder = await recorderOf(t, async (draft) => {
      if (!isThere) throw new Error("no answer");
      seen.push(draft);
    });
    recorder.end(ended("a"));
    await t.rejects(recorder.begin(begun("b")), /no answer/);
    isThere = true;
    await recorder.begin(begun("c"));
    t.match(seen[0]?.detail, { calls: 1, ends: 1 });
  },
);

t.test("the log's record of a batch says which deployment was called by whose key", async (t) => {
  const seen: { detail?: Record<string, unknown> }[] = [];
  const recorder = await recorderOf(t, async (draft) => void seen.push(draft));
  const [one, two] = ["1".repeat(64), "2".repeat(64)];
  const of = (id: string, deployment: string, keySha256: string) =>
    recorder.begin({ ...begun(id), deployment, keySha256 });
  await of("a", "job-1", one);
  await Promise.all([of("b", "job-1", one), of("c", "job-1", two), of("d", "job-1", one)]);
  const lists = seen.map(({ detail }) => detail?.["called"]);
  t.same(lists[0], [{ deployment: "job-1", key_sha256: one, calls: 1 }]);
  const calls = lists.slice(1).flat() as { key_sha256: string; calls: number }[];
  const sum = (key: string) =>
    calls.filter(({ key_sha256 }) => key_sha256 === key).reduce((all, { calls: n }) => all + n, 0);
  t.same([sum(one), sum(two)], [2, 1]);
});

t.test("a record names so many pairs as fit into an entry, and counts the rest", async (t) => {
  const calls = Array.from({ length: 20 }, (_, at) => ({
    ...{ deployment: `job-${at % 18}`, keySha256: "0".repeat(64) },
  }));
  const { called = [], called_beyond: beyond } = calledBy(calls);
  t.equal(called.length, 16);
  t.same(
    called.slice(0, 3).map(({ calls: n }) => n),
    [2, 2, 1],
  );
  t.equal(beyond, 2);
  t.same(calledBy([]), {});
});
