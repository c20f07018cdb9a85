import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  copyFileSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import { linkRelease } from "../src/link-release.ts";
import { makeRelease } from "./helper/small-release.ts";

const data = (storage: string, sha256: string) =>
  join(storage, "docker/registry/v2/blobs/sha256", sha256.slice(0, 2), sha256, "data");

t.test("images are linked, not copied, and a second run changes nothing", async (t) => {
  const dir = t.testdir();
  const [store, storage] = [join(dir, "store"), join(dir, "storage")];
  const release = makeRelease(store, "1.0.0", ["one", "two"]);
  const blobs = new Set(release.blobs.map((blob) => blob.sha256));
  t.equal(linkRelease(release, store, storage), blobs.size);
  for (const sha256 of blobs)
    t.equal(statSync(data(storage, sha256)).ino, statSync(join(store, sha256)).ino);
  t.equal(linkRelease(release, store, storage), 0);
  t.strictSame(
    readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".part"),
    ),
    [],
  );
});

t.test("a later release leaves the earlier one's tag where it was", async (t) => {
  const dir = t.testdir();
  const [store, storage] = [join(dir, "store"), join(dir, "storage")];
  const [first, second] = [
    makeRelease(store, "1.0.0", ["one"]),
    makeRelease(store, "1.1.0", ["one"]),
  ];
  linkRelease(first, store, storage);
  linkRelease(second, store, storage);
  const tag = (version: string) =>
    readFileSync(
      join(
        storage,
        "docker/registry/v2/repositories/resontech/one/_manifests/tags",
        version,
        "current/link",
      ),
      "utf8",
    );
  t.equal(tag("1.0.0"), first.images[0]?.digest);
  t.equal(tag("1.1.0"), second.images[0]?.digest);
});

t.test("a blob that was repaired in the store takes its old link's place", async (t) => {
  const dir = t.testdir();
  const [store, storage] = [join(dir, "store"), join(dir, "storage")];
  const release = makeRelease(store, "1.0.0", ["one"]);
  linkRelease(release, store, storage);
  const sha256 = release.blobs[0]?.sha256 ?? "";
  copyFileSync(join(store, sha256), join(store, "repaired"));
  renameSync(join(store, "repaired"), join(store, sha256));
  t.equal(linkRelease(release, store, storage), 1);
  t.equal(statSync(data(storage, sha256)).ino, statSync(join(store, sha256)).ino);
});

t.test("a blob that the store lacks is named before a manifest refers to it", async (t) => {
  const dir = t.testdir();
  const [store, storage] = [join(dir, "store"), join(dir, "storage")];
  const release = makeRelease(store, "1.0.0", ["one"]);
  const lost = release.blobs[2]?.sha256 ?? "";
  rmSync(join(store, lost));
  t.throws(() => linkRelease(release, store, storage), {
    code: "blob_missing",
    sha256: lost,
    message: /resontech\/one@sha256:/,
  });
  t.throws(() => statSync(join(storage, "docker/registry/v2/repositories/resontech/one")), {
    code: "ENOENT",
  });
});

t.test("a storage on another file system is refused with what to do", async (t) => {
  const store = join(t.testdir(), "store");
  const release = makeRelease(store, "1.0.0", ["one"]);
  const elsewhere = mkdtempSync("/dev/shm/registry-test-");
  t.teardown(() => rmSync(elsewhere, { recursive: true }));
  t.throws(() => linkRelease(release, store, elsewhere), {
    code: "store_not_linkable",
    message: /put both below one root/,
  });
});
