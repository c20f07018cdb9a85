import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { pino } from "pino";
import t, { type Test } from "tap";
import { InputCache } from "../../src/cache/input-cache.ts";
import type { MemberFailure } from "../../src/member-failure.ts";
import type { MemberTools } from "../../src/members/member-context.ts";
import { MemberJournal } from "../../src/members/member-journal.ts";
import { freshState, MemberStore } from "../../src/members/member-record.ts";
import { stageInputs } from "../../src/members/stage-inputs.ts";
import { TransferProgress } from "../../src/members/transfer-progress.ts";
import { federationPayload } from "../helper/federation-payload.ts";
import { MemorySubstrate } from "../helper/memory-substrate.ts";
import { startObjectServer } from "../helper/object-server.ts";
import { zipOf } from "../helper/zip.ts";

const digestOf = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");
const OWNER = digestOf("pool and project");
const CSV = Buffer.from("1,2\n".repeat(1000));
const ONE_BYTE = "bytes=0-0";

/** A node that may keep inputs, and a store with one object. */
async function nodeOf(
  t: Test,
  body: Buffer,
  kind: StagedInput["kind"],
  breaksAfter: number[] = [],
) {
  const dir = t.testdir({ members: {} });
  const objects = await startObjectServer(body, breaksAfter);
  t.teardown(() => objects[Symbol.asyncDispose]());
  const store = new MemberStore(dir, { withRoom: (write) => write() });
  const log = pino({ level: "silent" });
  const free = () => Number.MAX_SAFE_INTEGER;
  const cache = new InputCache({
    ...{ folder: store.inputCacheFolder, freeBytes: free, now: () => Date.now(), log },
  });
  await cache.follow({ owner: OWNER, maxBytes: 1024 ** 2 });
  const substrate = new MemorySubstrate(`${dir}/areas`);
  const stopped = new AbortController();
  const access = { isWithdrawn: false };
  const tools = {
    ...{ store, cache, substrate, log, doorCa: () => "" },
    coordinator: {
      stage: async () => ({
        urls: access.isWithdrawn ? [] : [{ id: "input", url: await objects.source.url(false) }],
        expiresInS: 60,
      }),
    },
  } as unknown as MemberTools;
  const input: StagedInput = {
    ...{ id: "input", kind, target: kind === "shard" ? "shard.zip" : "payload/data.csv" },
    ...{ sizeBytes: body.length, etag: "no digest", version: digestOf("version") },
  };
  let last = 0;
  /** Of a new member. @returns bytes that came from the cache, and where its payload lies */
  async function stage(cacheOwner?: string) {
    const member = `m-${(last += 1)}`;
    const state = freshState(
      {
        ...{ member, job: "j", attempt: "a", fence: { generation: 1, counter: 1 }, desired: "run" },
        ...{ graceMs: 1, image: "i", payload: federationPayload("j", { kind: "server" }) },
        resources: { cpuMillis: 1, memoryBytes: 1, pids: 1, diskBytes: 1024 ** 2, workers: [] },
        ...{ inputs: [input], ...(cacheOwner === undefined ? {} : { cacheOwner }) },
      },
      "staging",
      "boot",
    );
    const journal = new MemberJournal(
      store,
      state,
      () => undefined,
      () => undefined,
    );
    const enclosure = substrate.enclosure(state.desired, {});
    await enclosure.makeArea();
    const cached = await stageInputs(
      {
        ...{ tools, journal, enclosure, ref: { member, fence: state.desired.fence } },
        ...{ stopped: stopped.signal, abandoned: stopped.signal },
      },
      new TransferProgress(journal),
    );
    return { cached, payload: enclosure.area.path("payload") };
  }
  const kept = (): string[] =>
    readdirSync(join(store.inputCacheFolder, OWNER)).map((name) =>
      join(store.inputCacheFolder, OWNER, name),
    );
  return { objects, stage, kept, stopped, access };
}

const SHARD = zipOf([
  { name: "a/b.csv", body: CSV.toString() },
  { name: "c.txt", body: "c" },
]);

for (const { kind, body, file } of [
  { kind: "file", body: CSV, file: "data.csv" },
  { kind: "shard", body: SHARD, file: "a/b.csv" },
] as const) {
  t.test(`a later member of the project downloads no ${kind} that was kept`, async (t) => {
    const { objects, stage } = await nodeOf(t, body, kind);
    const first = await stage(OWNER);
    t.equal(first.cached, 0);
    t.strictSame(readFileSync(join(first.payload, file)), CSV);
    objects.requests.length = 0;
    const second = await stage(OWNER);
    t.equal(second.cached, body.length);
    t.strictSame(readFileSync(join(second.payload, file)), CSV);
    t.strictSame(objects.requests, [ONE_BYTE], "that it is still there is asked");
  });

  t.test(`a ${kind} that was damaged where it was kept is downloaded anew`, async (t) => {
    const { objects, stage, kept } = await nodeOf(t, body, kind);
    await stage(OWNER);
    const [path = ""] = kept();
    const damaged = readFileSync(path);
    damaged[40]! ^= 1;
    writeFileSync(path, damaged);
    objects.requests.length = 0;
    const { cached, payload } = await stage(OWNER);
    t.equal(cached, 0);
    t.strictSame(readFileSync(join(payload, file)), CSV);
    t.strictSame(readFileSync(kept()[0]!), body, "and kept anew");
    t.equal((await stage(OWNER)).cached, body.length);
  });
}

t.test("a guest of the node downloads what is kept of another project", async (t) => {
  const { objects, stage } = await nodeOf(t, CSV, "file");
  await stage(OWNER);
  objects.requests.length = 0;
  t.equal((await stage(digestOf("another"))).cached, 0);
  t.equal((await stage()).cached, null);
  t.strictSame(objects.requests, ["", ""], "the whole of it, twice");
});

t.test("who may read an input no more has it not from what was kept either", async (t) => {
  const { stage, kept, access } = await nodeOf(t, CSV, "file");
  await stage(OWNER);
  access.isWithdrawn = true;
  const reason = await stage(OWNER).catch((error: MemberFailure) => error.reason);
  t.equal(reason, "staging_failed");
  t.strictSame(kept(), []);
});

t.test("a download that breaks and goes on is kept whole", async (t) => {
  const { stage, kept } = await nodeOf(t, SHARD, "shard", [SHARD.length, 100]);
  await stage(OWNER);
  t.strictSame(readFileSync(kept()[0]!), SHARD);
});

t.test("a member that ends in the middle of a download leaves nothing that is kept", async (t) => {
  const { stage, kept, stopped } = await nodeOf(t, CSV, "file", [100]);
  const staged = stage(OWNER);
  setTimeout(() => stopped.abort(), 100);
  t.equal(
    await staged.then(
      () => "staged",
      () => "ended",
    ),
    "ended",
  );
  t.strictSame(kept(), []);
});
