import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_LADDER } from "@resontech/contracts/disk-ladder";
import { pino } from "pino";
import t, { type Test } from "tap";
import { InputCache } from "../../src/cache/input-cache.ts";
import { MemberStore } from "../../src/members/member-record.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const [OWNER, OTHER] = [sha256("owner"), sha256("other")];
const plenty = Number.MAX_SAFE_INTEGER;

const inputOf = (content: string) => ({
  ...({ id: "i", kind: "file", target: "payload/a", etag: "" } as const),
  ...{ sizeBytes: content.length, sha256: sha256(content) },
});

function cacheIn(folder: string, freeBytes: () => number = () => plenty): InputCache {
  let at = 1_000_000;
  const log = pino({ level: "silent" });
  return new InputCache({ folder, freeBytes, now: () => (at += 1_000), log });
}

async function followed(t: Test, maxBytes = 100) {
  const folder = join(t.testdir(), "~inputs");
  const cache = cacheIn(folder);
  await cache.follow({ owner: OWNER, maxBytes });
  return { folder, cache };
}

/** As a member that brings it does; false where it is not to be kept. */
function keep(cache: InputCache, content: string, owner = OWNER): boolean {
  using filling = cache.begin(owner, inputOf(content));
  if (filling === null) return false;
  writeFileSync(filling.path, content);
  filling.commit(sha256(content));
  return true;
}

/** What a member would get. */
function had(cache: InputCache, content: string, owner = OWNER): string | null {
  using kept = cache.find(owner, inputOf(content));
  return kept === null ? null : readFileSync(kept.path, "utf8");
}

t.test("what one member brought a later one has, also of the next process", async (t) => {
  const { folder, cache } = await followed(t);
  t.equal(had(cache, "abc"), null);
  t.ok(keep(cache, "abc"));
  t.equal(had(cache, "abc"), "abc");
  t.equal(cache.inUseBytes, 3);
  const next = cacheIn(folder);
  t.equal(had(next, "abc"), null, "nobody has said yet whose it is");
  await next.follow({ owner: OWNER, maxBytes: 100 });
  t.equal(had(next, "abc"), "abc");
  t.equal(next.inUseBytes, 3);
});

t.test("an object without a digest is known by its version, and not by its ETag", async (t) => {
  const { cache } = await followed(t);
  const { sha256: _, ...plain } = inputOf("abc");
  t.equal(cache.begin(OWNER, { ...plain, etag: "e" }), null, "nothing says which content it is");
  const versioned = { ...plain, version: sha256("bucket, key, version") };
  {
    using filling = cache.begin(OWNER, versioned)!;
    writeFileSync(filling.path, "abc");
    filling.commit(sha256("abc"));
  }
  using kept = cache.find(OWNER, versioned);
  t.equal(kept?.sha256, sha256("abc"), "whoever copies it checks what was brought");
  t.equal(cache.find(OWNER, { ...versioned, version: sha256("another") }), null);
  t.equal(cache.begin(OWNER, { ...inputOf("abc"), kind: "checkpoint" }), null, "it is read once");
});

t.test("a guest of the node neither has what is kept nor keeps anything", async (t) => {
  const { folder, cache } = await followed(t);
  keep(cache, "abc");
  t.equal(had(cache, "abc", OTHER), null);
  t.notOk(keep(cache, "xyz", OTHER));
  t.equal(cache.find(undefined, inputOf("abc")), null);
  t.equal(cache.begin(undefined, inputOf("xyz")), null);
  t.strictSame(readdirSync(folder), [OWNER]);
});

t.test(
  "another owner finds nothing of the former one, and no owner leaves no folder",
  async (t) => {
    const { folder, cache } = await followed(t);
    keep(cache, "abc");
    await cache.follow({ owner: OTHER, maxBytes: 100 });
    t.strictSame(readdirSync(folder), [OTHER]);
    t.equal(had(cache, "abc", OTHER), null);
    t.equal(had(cache, "abc"), null);
    t.equal(cache.inUseBytes, 0);
    keep(cache, "xyz", OTHER);
    await cache.follow(undefined);
    t.notOk(existsSync(folder));
    t.equal(cache.inUseBytes, null);
    t.notOk(keep(cache, "abc"));
  },
);

t.test("an emptying that a kill cut short is finished before anything else", async (t) => {
  const { folder, cache } = await followed(t);
  keep(cache, "abc");
  keep(cache, "def");
  // As `rm` had left it: some of the files are gone.
  mkdirSync(join(folder, OTHER));
  writeFileSync(join(folder, OTHER, "left"), "of the other owner");
  writeFileSync(join(folder, "stray"), "no folder");
  const next = cacheIn(folder);
  await next.follow({ owner: OWNER, maxBytes: 100 });
  t.strictSame(readdirSync(folder), [OWNER]);
  t.equal(had(next, "abc"), "abc");
  const last = cacheIn(folder);
  await last.follow(undefined);
  t.notOk(existsSync(folder));
});

t.test("a disk that takes no folder keeps nothing, and nobody waits for it", async (t) => {
  const dir = t.testdir({ data: "" });
  // Its folder would lie in a file.
  const cache = cacheIn(join(dir, "data", "~inputs"));
  await cache.follow({ owner: OWNER, maxBytes: 1 });
  t.equal(cache.inUseBytes, null);
  t.notOk(keep(cache, "a"));
});

t.test("a filling that a kill cut short is nobody's input", async (t) => {
  const { folder, cache } = await followed(t);
  const filling = cache.begin(OWNER, inputOf("abc"))!;
  writeFileSync(filling.path, "ab");
  const next = cacheIn(folder);
  await next.follow({ owner: OWNER, maxBytes: 100 });
  t.equal(had(next, "abc"), null);
  t.strictSame(readdirSync(join(folder, OWNER)), []);
  t.equal(next.inUseBytes, 0);
});

t.test("a filling whose owner has gone meanwhile is not kept", async (t) => {
  const { folder, cache } = await followed(t);
  const filling = cache.begin(OWNER, inputOf("abc"))!;
  writeFileSync(filling.path, "abc");
  await cache.follow({ owner: OTHER, maxBytes: 100 });
  filling.commit(sha256("abc"));
  t.strictSame(readdirSync(folder), [OTHER]);
  t.strictSame(readdirSync(join(folder, OTHER)), []);
  t.equal(cache.inUseBytes, 0);
  await cache.follow({ owner: OWNER, maxBytes: 100 });
  t.equal(had(cache, "abc"), null);
});

t.test("one that was not written whole is not kept", async (t) => {
  const { folder, cache } = await followed(t);
  for (const digest of [null, sha256("abc")]) {
    using filling = cache.begin(OWNER, inputOf("abc"))!;
    writeFileSync(filling.path, "a");
    filling.commit(digest);
  }
  t.equal(had(cache, "abc"), null);
  t.strictSame(readdirSync(join(folder, OWNER)), []);
  t.ok(keep(cache, "x".repeat(100)), "their room is free again");
});

t.test("a file of another length is not served, and goes", async (t) => {
  const { folder, cache } = await followed(t);
  keep(cache, "abc");
  const [name = ""] = readdirSync(join(folder, OWNER));
  writeFileSync(join(folder, OWNER, name), "ab");
  t.equal(had(cache, "abc"), null);
  t.strictSame(readdirSync(join(folder, OWNER)), []);
});

t.test("the least recently used goes first, and nothing that a member copies", async (t) => {
  const { cache } = await followed(t, 9);
  keep(cache, "aaa");
  keep(cache, "bbb");
  keep(cache, "ccc");
  t.equal(had(cache, "aaa"), "aaa");
  t.ok(keep(cache, "ddd"));
  t.equal(had(cache, "bbb"), null);
  t.equal(had(cache, "aaa"), "aaa");
  {
    using used = cache.find(OWNER, inputOf("ccc"));
    using other = cache.find(OWNER, inputOf("ccc"));
    t.ok(used !== null && other !== null);
    t.notOk(keep(cache, "x".repeat(9)), "it would need the room of one in use");
    t.equal(cache.inUseBytes, 9, "nothing went for it");
    t.ok(keep(cache, "x".repeat(6)));
    t.equal(had(cache, "ccc"), "ccc");
  }
  t.ok(keep(cache, "y".repeat(9)));
  t.equal(cache.inUseBytes, 9);
  t.notOk(keep(cache, "z".repeat(10)), "more than all");
  t.equal(had(cache, "y".repeat(9)), "y".repeat(9));
});

t.test("which was used last is known to the next process", async (t) => {
  const { folder, cache } = await followed(t, 6);
  keep(cache, "aaa");
  keep(cache, "bbb");
  had(cache, "aaa");
  had(cache, "bbb");
  had(cache, "aaa");
  const next = cacheIn(folder);
  await next.follow({ owner: OWNER, maxBytes: 6 });
  keep(next, "ccc");
  t.equal(had(next, "aaa"), "aaa");
  t.equal(had(next, "bbb"), null);
});

t.test("two members that bring the same at once take room for both, and leave one", async (t) => {
  const { folder, cache } = await followed(t, 6);
  using first = cache.begin(OWNER, inputOf("abc"));
  using second = cache.begin(OWNER, inputOf("abc"));
  t.equal(cache.begin(OWNER, inputOf("x")), null, "no room for a third");
  for (const filling of [first!, second!]) writeFileSync(filling.path, "abc");
  first!.commit(sha256("abc"));
  second!.commit(sha256("abc"));
  t.equal(cache.inUseBytes, 3);
  t.equal(readdirSync(join(folder, OWNER)).length, 1);
  t.equal(had(cache, "abc"), "abc");
});

t.test("a smaller bound holds at once", async (t) => {
  const { cache } = await followed(t, 9);
  for (const content of ["aaa", "bbb", "ccc"]) keep(cache, content);
  await cache.follow({ owner: OWNER, maxBytes: 4 });
  t.equal(cache.inUseBytes, 3);
  t.equal(had(cache, "ccc"), "ccc");
});

t.test("when the disk fills, the cache goes before anything else", async (t) => {
  let free = NODE_LADDER.keptBytes + 10;
  const cache = cacheIn(join(t.testdir(), "~inputs"), () => free);
  await cache.follow({ owner: OWNER, maxBytes: 100 });
  keep(cache, "aaa");
  keep(cache, "bbb");
  t.notOk(keep(cache, "x".repeat(50)), "it would fill the disk");
  free = NODE_LADDER.keptBytes - 1;
  cache.makeRoom();
  t.equal(had(cache, "aaa"), null);
  t.equal(had(cache, "bbb"), "bbb", "no more than is needed");
  {
    using used = cache.find(OWNER, inputOf("bbb"));
    free = 0;
    cache.makeRoom();
    t.ok(used !== null && existsSync(used.path), "what is copied stays");
  }
  cache.makeRoom();
  t.equal(cache.inUseBytes, 0);
  t.notOk(keep(cache, "ccc"));
});

t.test("an agent of an older release takes it for a member without a record", async (t) => {
  const dir = t.testdir();
  const store = new MemberStore(dir, { withRoom: (write) => write() });
  mkdirSync(store.inputCacheFolder);
  // What such a release sweeps at its start: all names there that have no record.
  t.strictSame(readdirSync(join(dir, "members")), ["~inputs"]);
  t.equal(store.inputCacheFolder, store.directory("~inputs"));
  t.strictSame(store.names(), [], "this release knows better");
});
