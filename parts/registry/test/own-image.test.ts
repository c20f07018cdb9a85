/** Images of the customer's own beside those of a release, in the registry's storage. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { linkRelease } from "../src/link-release.ts";
import { ownRepositories, putOwnImage, removeOwnImage } from "../src/own-image.ts";
import { makeRelease } from "./helper/small-release.ts";

const blobOf = (text: string) => {
  const bytes = Buffer.from(text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { sha256, sizeBytes: bytes.length, bytes };
};
const [manifest, layer, shared] = ["manifest", "layer", "shared"].map(blobOf) as [
  ...[ReturnType<typeof blobOf>, ReturnType<typeof blobOf>, ReturnType<typeof blobOf>],
];
const all = [manifest, layer, shared];
const open = ({ sha256 }: { sha256: string }) =>
  (async function* () {
    yield all.find((blob) => blob.sha256 === sha256)!.bytes;
  })();
const imageOf = (name: string, blobs = all) => ({
  ...{ repository: `own/${name}`, digest: `sha256:${manifest.sha256}`, blobs },
});
const storageOf = (dir: string) => {
  const v2 = join(dir, "docker", "registry", "v2");
  const kept = join(v2, "blobs", "sha256");
  const twos = () => (existsSync(kept) ? readdirSync(kept) : []);
  return {
    blobs: () =>
      twos()
        .flatMap((two) => readdirSync(join(kept, two)).map((sha256) => [two, sha256] as const))
        .filter(([two, sha256]) => existsSync(join(kept, two, sha256, "data")))
        .map(([, sha256]) => sha256)
        .sort(),
    has: (...path: string[]) => existsSync(join(v2, "repositories", ...path)),
  };
};
const hexes = (...blobs: { sha256: string }[]) => blobs.map(({ sha256 }) => sha256).sort();

t.test("its blobs are there before anything names them, and once", async (t) => {
  const dir = t.testdir({});
  const storage = storageOf(dir);
  await putOwnImage(imageOf("mine"), open, dir);
  t.same(storage.blobs(), hexes(...all));
  t.ok(storage.has("own", "mine", "_manifests", "revisions", "sha256", manifest.sha256, "link"));
  t.same(ownRepositories(dir), ["own/mine"]);
  await putOwnImage(imageOf("mine"), open, dir);
  t.same(storage.blobs(), hexes(...all), "safe to repeat");
});

t.test("bytes that changed meanwhile are named by nobody", async (t) => {
  const dir = t.testdir({});
  const other = async function* () {
    yield Buffer.from("others");
  };
  await t.rejects(putOwnImage(imageOf("mine"), other, dir), { code: "blob_changed" });
  t.same(ownRepositories(dir), []);
  t.same(storageOf(dir).blobs(), hexes());
});

t.test("one that needs more than there is room for is refused before a byte", async (t) => {
  const dir = t.testdir({});
  const huge = { ...layer, sizeBytes: 2 ** 60 };
  await t.rejects(putOwnImage(imageOf("mine", [manifest, huge]), open, dir), {
    code: "registry_full",
  });
  t.same(storageOf(dir).blobs(), []);
});

t.test("who is removed takes along what nobody else has", async (t) => {
  const dir = t.testdir({});
  const [store, storage] = [join(dir, "store"), join(dir, "registry")];
  const release = makeRelease(store, "1.2.3", ["one"]);
  linkRelease(release, store, storage);
  const ofRelease = release.images[0]!.blobs;
  const { blobs, has } = storageOf(storage);
  await putOwnImage(imageOf("mine"), open, storage);
  await putOwnImage(imageOf("yours", [manifest, shared]), open, storage);
  removeOwnImage("own/mine", storage);
  t.same(blobs(), hexes(...ofRelease, manifest, shared));
  t.notOk(has("own", "mine"));
  removeOwnImage("own/yours", storage);
  t.same(blobs(), hexes(...ofRelease), "and never what a release has");
  t.ok(has("resontech", "one", "_manifests"));
});
