import t from "tap";
import { collectable, type StoredVersion } from "../../src/storage/decisions/collectable.ts";

const NOW = 1_000_000;
const version = (
  key: string,
  versionId: string,
  modifiedAt: number,
  change: Partial<StoredVersion> = {},
): StoredVersion => ({
  ...{ key, versionId, modifiedAt, sizeBytes: 10, isLatest: false, isMarker: false },
  ...change,
});
const ids = (
  versions: StoredVersion[],
  needed: { key: string; versionId: string; untilDeleted?: boolean }[] = [],
) =>
  collectable(
    versions,
    needed.map((one) => ({ untilDeleted: false, ...one })),
    1_000,
    NOW,
  ).map(({ versionId }) => versionId);

t.test("an overwritten version goes once it was not the current one for long enough", async (t) => {
  const latest = (modifiedAt: number) => version("a", "v2", modifiedAt, { isLatest: true });
  t.same(ids([version("a", "v1", 0), latest(NOW - 1_000)]), ["v1"]);
  t.same(ids([version("a", "v1", 0), latest(NOW - 999)]), [], "however old it is itself");
  t.same(ids([latest(0)]), [], "the current one stays");
  t.same(ids([version("b", "v1", 0, { isLatest: true }), latest(NOW)]), [], "each key by itself");
});

t.test("what a living job reads stays, and goes when the job has ended", async (t) => {
  const versions = [
    version("a", "v1", 0),
    version("a", "v2", 10),
    version("a", "v3", 20, { isLatest: true }),
  ];
  t.same(ids(versions, [{ key: "a", versionId: "v1" }]), ["v2"]);
  t.same(ids(versions, [{ key: "b", versionId: "v1" }]).sort(), ["v1", "v2"], "of another key");
});

t.test(
  "a deleted object goes whole, its marker last; while a job reads it the marker hides it still",
  async (t) => {
    const versions = [
      version("a", "v1", 0),
      version("a", "m", 10, { isLatest: true, isMarker: true, sizeBytes: 0 }),
    ];
    t.same(ids(versions), ["v1", "m"]);
    t.same(ids(versions, [{ key: "a", versionId: "v1" }]), []);
    t.same(
      ids([{ ...versions[0]! }, { ...versions[1]!, modifiedAt: NOW }]),
      [],
      "just deleted: it can be brought back",
    );
    t.same(
      ids([{ ...versions[0]!, modifiedAt: NOW - 999 }, versions[1]!]),
      [],
      "also when its marker is dated like the object",
    );
  },
);

t.test(
  "a current object stays, also when a listing names it twice or again among the old ones",
  async (t) => {
    const current = version("a", "v1", 0, { isLatest: true });
    t.same(ids([current, { ...current }]), []);
    t.same(ids([{ ...current, isLatest: false }, current]), [], "a write came between");
    t.same(ids([current, version("a", "v2", 10, { isLatest: true })]), []);
    const marker = version("b", "m", 0, { isLatest: true, isMarker: true, sizeBytes: 0 });
    t.same(ids([marker, { ...marker }]), ["m"], "a marker goes, once");
  },
);

t.test(
  "what a job left stays under a newer version, and goes once its owner deleted it",
  async (t) => {
    const left = { key: "a", versionId: "v1", untilDeleted: true };
    const overwritten = [version("a", "v1", 0), version("a", "v2", 10, { isLatest: true })];
    const deleted = [
      version("a", "v1", 0),
      version("a", "m", 10, { isLatest: true, isMarker: true }),
    ];
    t.same(ids(overwritten, [left]), []);
    t.same(ids(deleted, [left]), ["v1", "m"]);
    t.same(ids(deleted, [{ ...left, untilDeleted: false }]), [], "hidden by the platform");
    t.same(ids(deleted, [left, { ...left, untilDeleted: false }]), [], "and read by a job");
  },
);
