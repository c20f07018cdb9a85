/** Searches of stored logs on the real object store: found over all members, beside the main thread, bounded, and given up with whoever asked. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { LogSearches } from "../../src/outputs/log-search/log-searches.ts";
import { startS3Engine } from "../helper/s3-engine.ts";

const engine = await startS3Engine(t.testdir());
t.teardown(() => engine.close());
const store = {
  ...{ endpoint: engine.endpoint, region: engine.region, credentials: engine.admin },
  ca: readFileSync(engine.caFile, "utf8"),
};
const bucket = "logs-1";
await engine.store.ensureBucket(bucket);
const CHUNKS = 4;
const members = Array.from({ length: 8 }, (_, at) => `m-${at}`);
const line = (member: string, chunk: number, at: number): string =>
  `${member} epoch ${chunk} step ${String(at).padStart(6, "0")} loss 0.${at}${"·".repeat(20)}\n`;
const LINES = 12_000;
for (const member of members)
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    const text = Array.from({ length: LINES }, (_, at) => line(member, chunk, at)).join("");
    await engine.store.put(
      ...([bucket, `logs/j-1/${member}-1.1/${String(chunk).padStart(8, "0")}`, text] as const),
      "text/plain",
    );
  }
const query = { isCaseSensitive: false, skip: 0, limit: 50, context: 1 };
const task = { job: "j-1", bucket, members, isFirst: false };
const nobody = new AbortController().signal;

t.test(
  "finds a text in the logs of all members, in their order, while the main thread goes on",
  async (t) => {
    await using searches = new LogSearches(store);
    const before = process.threadCpuUsage();
    const search = async (text: string) =>
      await searches.search({ ...task, query: { ...query, text } }, "k-1", nobody);
    const { found, total, isComplete, searchedBytes } = await search("STEP 000777 ");
    const { user } = process.threadCpuUsage(before);
    t.equal(total, members.length * CHUNKS);
    t.equal(isComplete, true);
    t.ok(searchedBytes > 25_000_000, `${searchedBytes} bytes`);
    t.same(
      found.map(({ log }) => log),
      members.flatMap((member) => Array<string>(CHUNKS).fill(member)),
    );
    t.same(
      found.map(({ number }) => number),
      found.map((_, at) => at + 1),
    );
    const second = found[1]!;
    t.same(second.before, [line("m-0", 1, 776).trimEnd()]);
    t.same(second.after, [line("m-0", 1, 778).trimEnd()]);
    const log = await engine.store.getRange(
      { ...(await engine.store.list(bucket, "logs/j-1/m-0-1.1/00000001", 1))[0]!, bucket },
      ...([0, 10_000_000] as const),
    );
    const [first] = await engine.store.list(bucket, "logs/j-1/m-0-1.1/00000000", 1);
    t.match(
      log.subarray(second.offset - first!.sizeBytes).toString(),
      new RegExp(`^${second.line}\n`),
    );
    t.ok(user < 500_000, `${user / 1_000} ms of the main thread's CPU`);
    t.comment(`${user} us`);
  },
);

t.test(
  "the first match is the answer before the rest is read, where that is asked for",
  async (t) => {
    await using searches = new LogSearches(store);
    const search = async (text: string, skip = 0) =>
      await searches.search(
        { ...task, isFirst: true, query: { ...query, text, skip } },
        ...(["k-1", nobody] as const),
      );
    const first = await search("m-1 epoch 2 step 000777 ");
    t.match(first, { found: [{ number: 1, log: "m-1" }], total: 1, isComplete: false });
    t.ok(first.searchedBytes < 12_000_000, `${first.searchedBytes} bytes`);
    t.match((await search("step 000777 ", 9)).found[0], { number: 10, log: "m-2" });
    const none = await search("nobody printed this");
    t.match(none, { found: [], total: 0, isComplete: true });
  },
);

t.test("an answer is bounded, and what follows is asked for by number", async (t) => {
  await using searches = new LogSearches(store);
  const text = "loss";
  const { found, total } = await searches.search(
    { ...task, query: { ...query, text, skip: 60, limit: 5 } },
    ...(["k-1", nobody] as const),
  );
  t.equal(total, members.length * CHUNKS * LINES);
  t.same(
    found.map(({ number }) => number),
    [61, 62, 63, 64, 65],
  );
});

t.test("time is bounded: what was found by then is told, and that it is not all", async (t) => {
  await using searches = new LogSearches(store, 0);
  const { isComplete, searchedBytes } = await searches.search(
    { ...task, query: { ...query, text: "loss" } },
    ...(["k-1", nobody] as const),
  );
  t.equal(isComplete, false);
  t.ok(searchedBytes < 5_000_000);
});

t.test(
  "one caller has two searches, all have ten; who is beyond that is told to come again",
  async (t) => {
    await using searches = new LogSearches(store);
    const ask = async (caller: string, signal = nobody) =>
      await searches.search({ ...task, query: { ...query, text: "none" } }, caller, signal);
    const left = new AbortController();
    const under = [ask("k-0"), ask("k-0")];
    await t.rejects(ask("k-0"), { code: "overloaded" });
    const waiting = Array.from({ length: 8 }, (_, at) => ask(`k-${at + 1}`, left.signal));
    for (const one of waiting) one.catch(() => undefined);
    await t.rejects(ask("k-9"), { code: "overloaded" });
    left.abort(new Error("gone"));
    for (const one of waiting) await t.rejects(one, { message: "gone" });
    for (const { total } of await Promise.all(under)) t.equal(total, 0);
    t.equal((await ask("k-9")).total, 0, "there is room again");
  },
);

t.test("a search whose asker has gone ends, and its thread serves the next", async (t) => {
  await using searches = new LogSearches(store);
  const gone = new AbortController();
  const under = searches.search({ ...task, query: { ...query, text: "loss" } }, "k-1", gone.signal);
  await sleep(150);
  gone.abort(new Error("gone"));
  await t.rejects(under, { message: "gone" });
  const { total } = await searches.search(
    { ...task, members: ["m-3"], query: { ...query, text: "step 000001 " } },
    ...(["k-1", nobody] as const),
  );
  t.equal(total, CHUNKS);
});

t.test("an object store that is away is told as such", async (t) => {
  await using searches = new LogSearches({ ...store, endpoint: "https://localhost:9" });
  await t.rejects(searches.search({ ...task, query: { ...query, text: "loss" } }, "k-1", nobody), {
    name: "S3UnavailableError",
  });
});
