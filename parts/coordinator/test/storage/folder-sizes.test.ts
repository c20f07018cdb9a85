import t from "tap";
import type { StoredVersion } from "../../src/storage/decisions/collectable.ts";
import { FolderSizes } from "../../src/storage/decisions/folder-sizes.ts";

const KIB = 1024;
const version = (key: string, sizeBytes: number, given: Partial<StoredVersion> = {}) => ({
  ...{ key, sizeBytes, versionId: "v", isLatest: true, isMarker: false, modifiedAt: 0 },
  ...given,
});

t.test("a folder is told by its children, the largest first, and by kind", async (t) => {
  const sizes = new FolderSizes("");
  sizes.add([
    version("jobs/a/x.bin", 8 * KIB),
    version("jobs/a/x.bin", 16 * KIB, { isLatest: false }),
    version("jobs/b.bin", 4 * KIB),
  ]);
  sizes.add([
    version("logs/job-1/00000000", 40 * KIB),
    version("top.txt", 1),
    version("jobs/gone", 0, { isMarker: true }),
  ]);
  t.same(sizes.folders, [
    { key: "logs/", sizeBytes: 40 * KIB, objects: 1 },
    { key: "jobs/", sizeBytes: 32 * KIB, objects: 2 },
  ]);
  t.same(sizes.kinds, { objects: 16 * KIB, olderVersions: 20 * KIB, logs: 40 * KIB });
});

t.test("of a folder below, its own children are told", async (t) => {
  const sizes = new FolderSizes("jobs/");
  sizes.add([version("jobs/a/deep/x", 8 * KIB), version("jobs/c", 8 * KIB)]);
  t.same(sizes.folders, [{ key: "jobs/a/", sizeBytes: 8 * KIB, objects: 1 }]);
});
