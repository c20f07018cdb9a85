import type {
  Change,
  FeedMessage,
  FeedPosition,
  FeedTopic,
  LogChange,
} from "@resontech/contracts/live-feed";
import fc from "fast-check";
import t from "tap";
import type { FeedBounds } from "../../src/feed/bounds.ts";
import { Feed } from "../../src/feed/feed.ts";
import type { Subscription } from "../../src/feed/subscription.ts";
import type { Reach } from "../../src/feed/told.ts";

const ALL: Reach = { rows: "all", shows: "everything" };
const A = { projectId: "project-a", userId: "user-a" };
const B = { projectId: "project-b", userId: "user-b" };
const ENTRY = 768;

const round = (job: string, number: number): Exclude<Change, LogChange> => ({
  ...{ kind: "round", job, attempt: `${job}-a1`, round: number, total: null, phase: "ended" },
});
const metric = (job: string, value: string): Exclude<Change, LogChange> => ({
  ...{ kind: "metric", job, attempt: `${job}-a1`, site: "site-1", value, number: 1 },
});
const printed = (job: string, member: string, offset: number, text: string): LogChange => ({
  ...{ kind: "log", job, member, offset, bytes: Buffer.byteLength(text), text },
});

async function read(subscription: Subscription, count: number): Promise<FeedMessage[]> {
  const messages: FeedMessage[] = [];
  for (let n = 0; n < count; n++) {
    const { value, done } = await subscription.next();
    if (done === true) throw new Error(`ended after ${n} messages`);
    messages.push(value);
  }
  return messages;
}

const changesIn = (messages: readonly FeedMessage[]): Change[] =>
  messages.flatMap((message) => (message.kind === "change" ? [message.change] : []));

/** A feed whose readers begin where it is. */
function build(bounds: Partial<FeedBounds> = {}) {
  const feed = new Feed(bounds);
  const follow = (topic: FeedTopic, reach = ALL, since = feed.position) =>
    feed.subscribe(topic, { reach, since });
  return { feed, follow };
}

t.test(
  "a reader hears of its topic alone, in order, whether it waits or comes later",
  async (t) => {
    const { feed, follow } = build();
    const start = feed.position;
    const waiting = follow({ kind: "job", job: "j1" });
    const soon = read(waiting, 1);
    feed.publish(round("j1", 1), A, 5);
    feed.publish(round("j2", 1), B, 6);
    feed.publish({ kind: "node-cordon", node: "n1", reason: "drained" }, { node: "n1" }, 7);
    feed.publish(round("j1", 2), A, 8);
    t.same(await soon, [
      { kind: "change", sequence: 1, at: "1970-01-01T00:00:00.005Z", change: round("j1", 1) },
    ]);
    t.match(await read(waiting, 1), [{ sequence: 4 }]);
    const sequences = async (topic: FeedTopic, count: number) =>
      (await read(follow(topic, ALL, start), count)).map(({ sequence }) => sequence);
    t.same(await sequences({ kind: "job", job: "j1" }, 2), [1, 4]);
    t.same(await sequences({ kind: "project", project: "project-b" }, 1), [2]);
    t.same(await sequences({ kind: "jobs" }, 3), [1, 2, 4]);
    t.same(await sequences({ kind: "nodes" }, 1), [3]);
  },
);

t.test(
  "what the door keeps from a reader does not reach it, be it a row or what was written into a job",
  async (t) => {
    const { feed, follow } = build();
    const start = feed.position;
    const reaches: [Reach, number[]][] = [
      [ALL, [1, 2, 3, 4]],
      [{ rows: "all", shows: "states" }, [1, 3]],
      [{ rows: [{ projectId: "project-a" }], shows: "everything" }, [1, 2]],
      [{ rows: [{ projectId: "project-b", userId: "user-b" }], shows: "states" }, [3]],
    ];
    const listening = reaches.map(([reach]) => follow({ kind: "jobs" }, reach));
    feed.publish(round("j1", 1), A, 0);
    feed.publish(metric("j1", "{}"), A, 0);
    feed.publish(round("j2", 1), B, 0);
    feed.publish(metric("j2", "{}"), B, 0);
    for (const [at, [reach, expected]] of reaches.entries()) {
      const live = await read(listening[at]!, expected.length);
      const later = await read(follow({ kind: "jobs" }, reach, start), expected.length);
      t.same(
        live.map(({ sequence }) => sequence),
        expected,
      );
      t.same(later, live);
    }
    const log = follow({ kind: "log", job: "j1" }, { rows: "all", shows: "states" });
    const nobody = follow({ kind: "log", job: "j1" }, { rows: [], shows: "everything" });
    feed.publishLog(printed("j1", "m1", 0, "secret"), A, 0);
    t.equal(feed.holds.queueBytes, 0, "nothing waits for them");
    log[Symbol.dispose]();
    nobody[Symbol.dispose]();
  },
);

t.test(
  "a position that the ring no longer has, of another life or of the future leads to a reset",
  async (t) => {
    const { feed } = build({ ringEntries: 3 });
    const first = feed.position;
    for (let n = 1; n <= 3; n++) feed.publish(round("j1", n), A, 0);
    const topic = { kind: "job", job: "j1" } as const;
    const begin = async (since?: FeedPosition) =>
      (await read(feed.subscribe(topic, { reach: ALL, since }), 1))[0];
    t.match(await begin(first), { kind: "change", sequence: 1 });
    feed.publish(round("j1", 4), A, 0);
    const reset = { kind: "reset", epoch: first.epoch, sequence: 4, missed: null };
    t.same(await begin(first), reset);
    t.match(await begin({ ...first, sequence: 1 }), { kind: "change", sequence: 2 });
    t.same(await begin(), reset);
    t.same(await begin({ epoch: "other", sequence: 4 }), reset);
    t.same(await begin({ ...first, sequence: 5 }), reset);
    t.not(new Feed().position.epoch, first.epoch);
  },
);

t.test("the ring is bounded by bytes, too", async (t) => {
  const { feed } = build({ ringBytes: 10_000 });
  for (let n = 0; n < 1_000; n++) {
    feed.publish(metric("j1", "x".repeat(n % 1_000)), A, 0);
    t.ok(feed.holds.ringBytes <= 10_000);
  }
});

t.test(
  "a slow reader gets one reset with the count of what it missed, then what is newer",
  async (t) => {
    const { feed, follow } = build({ queueBytes: 10 * ENTRY });
    const slow = follow({ kind: "job", job: "j1" });
    for (let n = 1; n <= 10; n++) feed.publish(round("j1", n), A, 0);
    t.equal(feed.holds.queueBytes, 10 * ENTRY);
    for (let n = 11; n <= 500; n++) feed.publish(round("j1", n), A, 0);
    t.equal(feed.holds.queueBytes, 0, "it holds nothing while nobody reads");
    t.same(await read(slow, 1), [
      { kind: "reset", epoch: feed.position.epoch, sequence: 500, missed: 500 },
    ]);
    feed.publish(round("j1", 501), A, 0);
    t.match(await read(slow, 1), [{ kind: "change", sequence: 501 }]);
  },
);

t.test(
  "a slow reader of a log keeps the newest, and hears how much of whom it missed",
  async (t) => {
    const line = "x".repeat(1_000);
    const { feed, follow } = build({ queueBytes: 5 * (ENTRY + 2_000), tailBytesPerS: 1e9 });
    const slow = follow({ kind: "log", job: "j1" });
    for (let n = 0; n < 20; n++)
      feed.publishLog(printed("j1", n % 2 === 0 ? "m1" : "m2", (n >> 1) * 1_000, line), A, 0);
    const [first, second, ...rest] = await read(slow, 7);
    t.match(first, { sequence: 0, change: { member: "m1", offset: 0, bytes: 8_000, text: null } });
    t.match(second, {
      sequence: 15,
      change: { member: "m2", offset: 0, bytes: 7_000, text: null },
    });
    t.same(
      rest.map(({ sequence }) => sequence),
      [16, 17, 18, 19, 20],
    );
    t.equal(feed.holds.queueBytes, 0);
  },
);

t.test(
  "of any log under any bounds each byte is shown or told as missed, also to who comes back",
  async (t) => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("print" as const),
        member: fc.constantFrom("m1", "m2", "m3"),
        length: fc.nat(3_000),
      }),
      fc.record({ kind: fc.constant("read" as const), count: fc.integer({ min: 1, max: 5 }) }),
      fc.constant({ kind: "come back" as const }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 80 }),
        fc.integer({ min: 3_000, max: 12_000 }),
        async (steps, queueBytes) => {
          const feed = new Feed({ queueBytes, tailBytesPerS: 4_000, tailBytesOfJob: 1e6 });
          const printedBytes = new Map<string, number>();
          const heard = new Map<string, number>();
          let position = feed.position;
          let hasLeft = false;
          let reader = feed.subscribe({ kind: "log", job: "j1" }, { reach: ALL, since: position });
          const take = (message: FeedMessage) => {
            position = { ...position, sequence: message.sequence };
            if (message.kind !== "change" || message.change.kind !== "log")
              throw new Error(message.kind);
            const { member, offset, bytes } = message.change;
            const end = heard.get(member) ?? 0;
            // Who left between two marks of what was dropped is told some of that again.
            if (offset > end || (offset < end && !hasLeft))
              throw new Error(`${member} goes on at ${offset} after ${end}`);
            heard.set(member, Math.max(end, offset + bytes));
          };
          const isBehind = () =>
            [...printedBytes].some(([member, bytes]) => (heard.get(member) ?? 0) < bytes);
          for (const each of steps) {
            if (each.kind === "print") {
              const offset = printedBytes.get(each.member) ?? 0;
              printedBytes.set(each.member, offset + each.length);
              if (each.length > 0)
                feed.publishLog(printed("j1", each.member, offset, "x".repeat(each.length)), A, 0);
            } else if (each.kind === "read") {
              for (let n = 0; n < each.count && isBehind(); n++) take((await read(reader, 1))[0]!);
            } else {
              reader[Symbol.dispose]();
              hasLeft = true;
              reader = feed.subscribe({ kind: "log", job: "j1" }, { reach: ALL, since: position });
            }
          }
          while (isBehind()) take((await read(reader, 1))[0]!);
          reader[Symbol.dispose]();
          t.same(heard, new Map([...printedBytes].filter(([, bytes]) => bytes > 0)));
          t.equal(feed.holds.queueBytes, 0);
        },
      ),
      { numRuns: 200 },
    );
  },
);

t.test("who follows a log begins with what is kept of it", async (t) => {
  const { feed } = build({ tailBytesOfJob: 2 * (ENTRY + 20) });
  for (let n = 0; n < 5; n++) feed.publishLog(printed("j1", "m1", n * 10, "0123456789"), A, 0);
  const reader = feed.subscribe({ kind: "log", job: "j1" }, { reach: ALL });
  const [reset, ...rest] = await read(reader, 3);
  t.match(reset, { kind: "reset", sequence: 3, missed: null });
  t.match(rest, [
    { sequence: 4, change: { offset: 30 } },
    { sequence: 5, change: { offset: 40 } },
  ]);
  const since = (sequence: number) =>
    feed.subscribe(
      { kind: "log", job: "j1" },
      { reach: ALL, since: { ...feed.position, sequence } },
    );
  t.match(await read(since(4), 1), [{ kind: "change", sequence: 5 }]);
  t.match(await read(since(2), 1), [{ kind: "reset" }]);
});

t.test(
  "logs are bounded in whole: the quietest job's go first, and no change goes for them",
  async (t) => {
    const text = "x".repeat(1_000);
    const { feed } = build({ tailBytes: 10 * (ENTRY + 2_000), tailBytesPerS: 1e9 });
    const start = feed.position;
    feed.publish(round("j0", 1), A, 0);
    for (let n = 0; n < 100; n++) {
      feed.publishLog(printed(`j${n % 20}`, "m", n, text), A, 0);
      t.ok(feed.holds.tailBytes <= 10 * (ENTRY + 2_000));
    }
    t.match(
      await read(feed.subscribe({ kind: "log", job: "j0" }, { reach: ALL, since: start }), 1),
      [{ kind: "reset" }],
    );
    t.match(
      await read(feed.subscribe({ kind: "job", job: "j0" }, { reach: ALL, since: start }), 1),
      [{ sequence: 1 }],
    );
  },
);

t.test("when all queues together run short, logs give way before changes", async (t) => {
  const text = "x".repeat(1_000);
  const { feed, follow } = build({ queuesBytes: 20_000, tailBytesPerS: 1e9 });
  const logs = follow({ kind: "log", job: "j1" });
  const changes = follow({ kind: "job", job: "j1" });
  for (let n = 0; n < 50; n++) feed.publishLog(printed("j1", "m1", n * 1_000, text), A, 0);
  t.ok(feed.holds.queueBytes <= 10_000);
  for (let n = 0; n < 15; n++) feed.publish(round("j1", n), A, 0);
  t.ok(feed.holds.queueBytes <= 20_000);
  t.same(
    changesIn(await read(changes, 15)).map(({ kind }) => kind),
    Array<string>(15).fill("round"),
  );
  t.match(await read(logs, 1), [{ change: { text: null, offset: 0 } }]);
});

t.test("a reader that keeps up hears everything, whatever the slow ones hold", async (t) => {
  const { feed, follow } = build({ queuesBytes: 2_000 });
  const slow = follow({ kind: "jobs" });
  const quick = follow({ kind: "job", job: "j1" });
  for (let n = 1; n <= 20; n++) {
    const next = quick.next();
    feed.publish(round("j1", n), A, 0);
    t.match((await next).value, { kind: "change", sequence: n });
  }
  t.match(await read(slow, 1), [{ kind: "reset", missed: 20 }]);
});

t.test(
  "a job that prints more than its rate is told of without the text, whoever its agents are",
  async (t) => {
    const { feed, follow } = build({ tailBytesPerS: 1_000 });
    const reader = follow({ kind: "log", job: "j1" });
    const texts = async (count: number) =>
      changesIn(await read(reader, count)).map(
        (change) => change.kind === "log" && change.text?.length,
      );
    for (const at of [0, 0, 0, 1_000, 1_000])
      feed.publishLog(printed("j1", "m1", 0, "x".repeat(1_000)), A, at);
    t.same(await texts(5), [1_000, 1_000, undefined, 1_000, undefined]);
    feed.publishLog({ ...printed("j1", "m1", 0, "x".repeat(1_000)), bytes: 0 }, A, 1_000);
    t.same(await texts(1), [undefined], "what its agent claims does not count");
    feed.publishLog(printed("j2", "m2", 0, "y"), A, 1_000);
    t.equal(feed.holds.readers, 1);
  },
);

t.test("text of a job is text", async (t) => {
  const { feed, follow } = build();
  const hostile = '\u001b[2J</script><img src=x onerror=alert(1)>\u0000\ud800 {"kind":"reset"}\n';
  const [log, job] = [follow({ kind: "log", job: "j1" }), follow({ kind: "job", job: "j1" })];
  feed.publishLog(printed("j1", "m1", 0, hostile), A, 0);
  feed.publish(metric("j1", hostile), A, 0);
  t.match(await read(log, 1), [{ change: { text: hostile } }]);
  t.match(await read(job, 1), [{ change: { value: hostile } }]);
});

t.test("a reader that goes leaves nothing behind, however it goes", async (t) => {
  const { feed, follow } = build();
  const topic = { kind: "job", job: "j1" } as const;
  const abort = new AbortController();
  const left = follow(topic);
  const leaving = (async () => {
    for await (const message of left) if (message.sequence === 2) break;
  })();
  {
    using disposed = follow(topic);
    void disposed;
    t.equal(feed.holds.readers, 2);
  }
  const aborted = feed.subscribe(topic, { reach: ALL, since: feed.position, signal: abort.signal });
  const idle = follow(topic);
  const heard = idle.next();
  for (let n = 1; n <= 3; n++) feed.publish(round("j1", n), A, 0);
  await leaving;
  t.ok(feed.holds.queueBytes > 0);
  abort.abort();
  t.match(await aborted.next(), { done: true });
  t.match(await heard, { value: { sequence: 1 } });
  await read(idle, 2);
  const last = idle.next();
  t.equal(feed.holds.readers, 1);
  feed[Symbol.dispose]();
  t.match(await last, { done: true });
  t.match(await idle.next(), { done: true });
  t.match(await follow(topic).next(), { done: true }, "and nobody comes after the end");
  t.match(await feed.subscribe(topic, { reach: ALL, signal: abort.signal }).next(), { done: true });
  t.same(
    { ...feed.holds, ringBytes: 0 },
    { ringBytes: 0, tailBytes: 0, queueBytes: 0, readers: 0 },
  );
});

t.test("several waits of one reader are answered in their order", async (t) => {
  const { feed, follow } = build();
  const reader = follow({ kind: "jobs" });
  const waits = [reader.next(), reader.next(), reader.next()];
  for (let n = 1; n <= 2; n++) feed.publish(round("j1", n), A, 0);
  await reader.return();
  t.match(await Promise.all(waits), [
    { value: { sequence: 1 } },
    { value: { sequence: 2 } },
    { done: true },
  ]);
});
