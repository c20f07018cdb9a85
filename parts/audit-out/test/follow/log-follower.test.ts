import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { LogFollower } from "../../src/follow/log-follower.ts";
import type { Position } from "../../src/follow/position.ts";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import { tilePath } from "@resontech/audit/format/tree/tile-layout";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { keyLists, WrittenLog } from "../helper/written-log.ts";
import { silent } from "../helper/silent.ts";
import { until } from "@resontech/audit/testing/until";

async function following(t: Test, log: WrittenLog): Promise<LogFollower> {
  const follower = new LogFollower(log.options, silent);
  t.teardown(() => follower[Symbol.asyncDispose]());
  await follower.start();
  return follower;
}

const never = new AbortController().signal;

/** Everything that is there, from a place on. */
async function readAll(follower: LogFollower, from: Position | null = null): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = await follower.read(from); batch !== null; batch = await follower.read(from)) {
    for (const leaf of batch.leaves) ids.push(JSON.parse(leaf.toString("utf8")).id);
    from = { slug: batch.slug, index: batch.firstIndex + batch.leaves.length };
  }
  return ids;
}

const idsOf = (leaves: readonly Buffer[]): string[] =>
  leaves.map((leaf) => JSON.parse(leaf.toString("utf8")).id);

t.test(
  "entries come in order, each once, as the log grows over tile borders, and from any place on",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    const follower = await following(t, log);
    t.equal(await follower.read(null), null);
    const written: string[] = [];
    for (const count of [1, 254, 1, 1, 300, 1_000, 3]) {
      written.push(...idsOf(await log.append(keyLists(count))));
      await until(() => follower.shards[0]?.tree.size === written.length);
      t.same(await readAll(follower), written, `${written.length} entries`);
    }
    t.same(await readAll(follower, { slug: "2026", index: 700 }), written.slice(700));
    t.equal(follower.entriesFrom({ slug: "2026", index: 700 }), written.length - 700);
    t.equal(follower.entriesFrom(null), written.length);
    const batch = await follower.next({ slug: "2026", index: 300 }, never);
    t.equal(batch.firstIndex, 300);
    t.equal(batch.leaves.length, 212, "a batch ends with its bundle");
    t.same(batch.hashes, batch.leaves.map(hashLeaf));
  },
);

t.test("a tile beyond the believed tree is no tile of it", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(300));
  const { tree } = (await following(t, log)).shards[0]!;
  t.equal((await tree.readTile(0, 1, 44)).length, 44 * 32);
  for (const [level, index] of [
    [0, 2],
    [0, 7],
    [1, 1],
    [3, 1],
  ] as const)
    await t.rejects(tree.readTile(level, index, 256), { code: "log_damaged" }, `${level}/${index}`);
});

t.test(
  "whoever waits for entries gets them once they are signed, or is told to stop",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    const follower = await following(t, log);
    const waiting = follower.next(null, never);
    const stop = new AbortController();
    const stopped = follower.next(null, stop.signal);
    stop.abort(new Error("enough"));
    await t.rejects(stopped, { message: "enough" });
    const [leaf] = await log.append(keyLists(1));
    t.same((await waiting).leaves, [leaf]);
  },
);

t.test(
  "the next shard is followed when it begins, and an earlier one is read to its end first",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    const first = idsOf(await log.append(keyLists(3)));
    const follower = await following(t, log);
    t.same(await readAll(follower), first);
    first.push(...idsOf(await log.append(keyLists(2))));
    await log.open("2027");
    const second = idsOf(await log.append(keyLists(2)));
    await until(() => follower.entriesFrom(null) === 7);
    t.same(await readAll(follower), [...first, ...second]);
    t.same(
      await readAll(follower, { slug: "2026", index: 5 }),
      second,
      "behind a shard's end stands the next one's beginning",
    );
  },
);

t.test("a checkpoint that the policy's key has not signed is believed in nothing", async (t) => {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  await log.append(keyLists(5));
  const follower = await following(t, log);
  const file = join(log.logDir, "checkpoint");
  const note = readFileSync(file, "utf8");
  chmodSync(file, 0o600);
  writeFileSync(file, note.replace("\n5\n", "\n6\n"));
  await until(() => follower.fault?.code === "checkpoint_refused");
  t.equal(follower.shards[0]?.tree.size, 5);
  writeFileSync(file, note);
  await until(() => follower.fault === null);
});

t.test(
  "a signed tree that does not extend the one before is named, kept as evidence, and not believed",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(300));
    const follower = await following(t, log);
    await log.sign(Buffer.alloc(32, 7), 300);
    await until(() => follower.fault?.code === "log_changed");
    t.match(follower.fault?.message, /does not extend/);
    t.equal(follower.shards[0]?.tree.size, 300);
    t.equal((await readAll(follower)).length, 300, "what was proven is still given");
    const evidence = readFileSync(join(log.stateDir, "2026.changed"), "utf8");
    t.equal(evidence.match(/^— /gm)?.length, 4, "both notes, each with its two signatures");
  },
);

t.test("a log that has become shorter is found by the next life, too", async (t) => {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  await log.append(keyLists(300));
  const before = readFileSync(join(log.logDir, "checkpoint"));
  await log.append(keyLists(10));
  const first = await following(t, log);
  t.equal(first.shards[0]?.tree.size, 310);
  await first[Symbol.asyncDispose]();
  chmodSync(join(log.logDir, "checkpoint"), 0o600);
  writeFileSync(join(log.logDir, "checkpoint"), before);
  const second = await following(t, log);
  t.match(second.fault, { code: "log_changed", message: /shorter/ });
  t.ok(existsSync(join(log.stateDir, "2026.changed")));
});

t.test("entries that were rewritten on the disk are given to nobody", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(70_000));
  const follower = await following(t, log);
  const bundle = join(log.logDir, tilePath({ level: "entries", index: 3, width: 256 }));
  const bytes = readFileSync(bundle);
  bytes.write("usr-9", bytes.indexOf("usr-1"));
  chmodSync(bundle, 0o600);
  writeFileSync(bundle, bytes);
  await t.rejects(follower.read({ slug: "2026", index: 800 }), { code: "log_damaged", index: 768 });
  // The tile rewritten to fit: then the tile above it tells.
  const tile = join(log.logDir, tilePath({ level: 0, index: 3, width: 256 }));
  const hashes = readFileSync(tile);
  hashLeaf(bytes.subarray(2, 2 + bytes.readUInt16BE(0))).copy(hashes);
  chmodSync(tile, 0o600);
  writeFileSync(tile, hashes);
  const later = await following(t, log);
  await t.rejects(later.read({ slug: "2026", index: 800 }), {
    code: "log_damaged",
    index: 768,
    message: /believed root/,
  });
  t.equal(
    (await follower.read({ slug: "2026", index: 69_990 }))?.leaves.length,
    10,
    "others are still given",
  );
});

t.test(
  "a shard that a restore cut short is read as far as it goes, and the one that follows it in full",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    const kept = idsOf(await log.append(keyLists(10)));
    const old = readFileSync(join(log.logDir, "checkpoint"));
    await log.append(keyLists(10));
    const follower = await following(t, log);
    t.equal(follower.entriesFrom(null), 20);
    chmodSync(join(log.logDir, "checkpoint"), 0o600);
    writeFileSync(join(log.logDir, "checkpoint"), old);
    await until(() => follower.fault?.code === "log_changed");
    await log.open("2026-2");
    const after = idsOf(await log.append(keyLists(2)));
    await until(() => follower.entriesFrom(null) === 12);
    t.same(await readAll(follower), [...kept, ...after]);
    t.same(
      await readAll(follower, { slug: "2026", index: 20 }),
      after,
      "a receiver that had got what was lost goes on behind it",
    );
    t.match(follower.fault, { code: "log_changed" }, "that it happened stays known");
  },
);

/** 2026 was read once; then a tile of its right edge was damaged on the disk, and 2027 began. */
async function withDamagedShard(t: Test): Promise<WrittenLog> {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(300));
  await (await following(t, log))[Symbol.asyncDispose]();
  flipFirstByte(join(log.logDir, tilePath({ level: 0, index: 1, width: 44 })));
  await log.open("2027");
  await log.append(keyLists(5));
  return log;
}

function flipFirstByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[0]! ^= 1;
  chmodSync(path, 0o600);
  writeFileSync(path, bytes);
}

t.test(
  "an older shard that can't be read for a moment is waited for: nothing behind it is handed out, and it is said",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    const first = idsOf(await log.append(keyLists(300)));
    const checkpoint = join(log.logDir, "checkpoint");
    await log.open("2027");
    const second = idsOf(await log.append(keyLists(5)));
    // A folder in its place: the error says nothing of the disk, and may pass.
    renameSync(checkpoint, `${checkpoint}.away`);
    mkdirSync(checkpoint);
    const follower = await following(t, log);
    await t.rejects(follower.read({ slug: "2026", index: 200 }), {
      code: "shard_stuck",
      message: /2026.*EISDIR/,
    });
    t.same(follower.incomplete, ["2026"]);
    t.ok(
      follower.entriesFrom({ slug: "2026", index: 200 }) > 0,
      "whoever stands before it is behind",
    );
    rmdirSync(checkpoint);
    renameSync(`${checkpoint}.away`, checkpoint);
    await until(() => follower.shards[0]!.isSettled);
    t.same(await readAll(follower, { slug: "2026", index: 200 }), [...first.slice(200), ...second]);
    t.same(follower.incomplete, []);
  },
);

t.test(
  "a closed shard that is damaged keeps nobody from following the one that is written",
  async (t) => {
    const log = await withDamagedShard(t);
    const follower = await following(t, log);
    t.match(
      follower.shards.map(({ slug, tree, fault }) => [slug, tree.size, fault?.code]),
      [
        ["2026", 0, "log_damaged"],
        ["2027", 5, undefined],
      ],
    );
    await log.append(keyLists(1));
    await until(() => follower.shards[1]!.tree.size === 6);
    await t.rejects(follower.read(null), { code: "shard_stuck" });
  },
);

t.test("whoever may pass over a damaged shard is told what was passed over", async (t) => {
  const follower = await following(t, await withDamagedShard(t));
  const batch = await follower.read({ slug: "2026", index: 200 }, ({ slug }) => slug === "2026");
  t.match(batch, { slug: "2027", firstIndex: 0, passed: [{ shard: "2026", from: 200, to: null }] });
  await t.rejects(
    follower.read(null, ({ slug }) => slug === "2027"),
    { code: "shard_stuck" },
  );
});

t.test(
  "of a shard that is believed only the bundles that are damaged are passed over",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    const written = idsOf(await log.append(keyLists(1_000)));
    const follower = await following(t, log);
    for (const index of [1, 2])
      flipFirstByte(join(log.logDir, tilePath({ level: "entries", index, width: 256 })));
    const anything = (): boolean => true;
    await t.rejects(follower.read({ slug: "2026", index: 300 }), { code: "log_damaged" });
    const batch = await follower.read({ slug: "2026", index: 300 }, anything);
    t.match(batch, { firstIndex: 768, passed: [{ shard: "2026", from: 300, to: 768 }] });
    t.same(idsOf(batch!.leaves), written.slice(768));
  },
);
