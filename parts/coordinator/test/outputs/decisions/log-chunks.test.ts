import t from "tap";
import {
  chunksOf,
  fenceOfChunk,
  isMergedInto,
  MAX_MERGED_BYTES,
  memberOfChunk,
  mergesOf,
} from "../../../src/outputs/decisions/log-chunks.ts";
import type { ObjectVersion } from "../../../src/storage/object-store.ts";

const FOLDER = "logs/j-1/j-1-a1-site-1-1.2";
const part = (name: string, sizeBytes = 10): ObjectVersion => ({
  ...{ key: `${FOLDER}/${name}`, versionId: `v-${name}`, etag: "e", sizeBytes },
});
const single = (at: number, sizeBytes = 10) => part(String(at).padStart(8, "0"), sizeBytes);
const names = (versions: readonly ObjectVersion[]) =>
  versions.map(({ key }) => key.slice(FOLDER.length + 1));
const MERGED = "to-00000002/00000000";

t.test("the key tells member and fence, merged or not", async (t) => {
  for (const { key } of [single(0), part(MERGED)]) {
    t.equal(memberOfChunk(key), "j-1-a1-site-1");
    t.same(fenceOfChunk(key), { generation: 1, counter: 2 });
  }
});

t.test("parts that lie in a merged one too are read once, in their order", async (t) => {
  const chunks = chunksOf([single(10), single(3), single(1), part(MERGED, 30), single(2)]);
  t.same(
    chunks.map(({ version, offset }) => [...names([version]), offset]),
    [
      [MERGED, 0],
      ["00000003", 30],
      ["00000010", 40],
    ],
  );
});

t.test("a fence that is renewed goes on counting", async (t) => {
  const renewed: ObjectVersion = { ...single(2), key: "logs/j-1/j-1-a1-site-1-1.10/00000002" };
  t.same(
    chunksOf([renewed, single(1), single(0)]).map(({ offset }) => offset),
    [0, 10, 20],
  );
  t.same(mergesOf([single(1), renewed]), [], "parts of two fences stay two");
});

t.test("a merged part takes the place of those of its own fence alone", async (t) => {
  const merged = part(MERGED, 30);
  const another: ObjectVersion = { ...single(1), key: "logs/j-1/j-1-a1-site-1-2-1.1/00000001" };
  t.same(mergesOf([merged, another]), []);
  t.equal(chunksOf([merged, another]).length, 2);
  t.ok(isMergedInto(single(1), merged));
  for (const [one, whole] of [
    [single(3), merged],
    [another, merged],
    [single(1), single(1)],
  ] as const)
    t.notOk(isMergedInto(one, whole));
});

t.test("parts that follow one another become one, up to the largest that is held", async (t) => {
  const half = MAX_MERGED_BYTES / 2;
  const merges = mergesOf([
    ...[single(0), single(1), single(3), single(4), single(6)],
    ...[single(8, half), single(9, half), single(10, 1), single(11, 1)],
  ]);
  t.same(
    merges.map(({ key, parts }) => [key.slice(FOLDER.length + 1), ...names(parts)]),
    [
      ["to-00000001/00000000", "00000000", "00000001"],
      ["to-00000004/00000003", "00000003", "00000004"],
      ["to-00000009/00000008", "00000008", "00000009"],
      ["to-00000011/00000010", "00000010", "00000011"],
    ],
  );
});

t.test("what a crash left is ended, and nothing is merged twice", async (t) => {
  const merged = part(MERGED, 30);
  t.match(mergesOf([merged, single(0), single(1), single(2), single(3)]), [
    { key: merged.key, merged, isWhole: true, parts: [single(0), single(1), single(2)] },
  ]);
  t.match(mergesOf([merged, single(2)]), [{ merged, isWhole: false, parts: [single(2)] }]);
  t.same(mergesOf([merged]), []);
});
