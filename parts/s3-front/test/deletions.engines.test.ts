import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { StoredVersion } from "@resontech/coordinator/collectable";
import { RunningFront } from "./helper/running-front.ts";
import type { FrontUser } from "@resontech/coordinator/testing/front-world";
import { headText, RawConnection, signedHeaders } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const MIB = 1024 ** 2;

/** Bytes that the engine's files take on the disk. */
function diskBytes(): number {
  const folders = ["objects", "versions"].map((name) => join(front.dir, name));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
      statSync(join(folder, name)),
    ),
  );
  const sizes = new Map(files.filter((file) => file.isFile()).map(({ ino, size }) => [ino, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

async function versionsOf({ bucket }: FrontUser): Promise<StoredVersion[]> {
  const versions: StoredVersion[] = [];
  for await (const page of front.store.versions(bucket)) versions.push(...page);
  return versions;
}

t.test("however often an object is deleted, its data is there once", async (t) => {
  const user = await front.addUser();
  const store = front.storeOf(user);
  const put = await store.put(user.bucket, "large", Buffer.alloc(4 * MIB, 1), "text/plain");
  const before = Date.now();
  const deleteMany = async (keys: string[]) => {
    const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join("")}</Delete>`;
    const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
    await front
      .transportOf(user.keys)
      .send({ method: "POST", path: [user.bucket], query: { delete: "" }, headers, body });
  };
  await Promise.all(Array.from({ length: 8 }, () => store.remove(user.bucket, "large")));
  await deleteMany(Array.from({ length: 20 }, () => "large"));
  t.ok(diskBytes() < 5 * MIB, `${diskBytes()} bytes`);
  t.equal(await store.stat(user.bucket, "large"), null);
  const [marker, version, ...more] = (await versionsOf(user)).toSorted(
    (a, b) => Number(b.isMarker) - Number(a.isMarker),
  );
  t.same(more, []);
  t.match(marker, { isMarker: true, isLatest: true });
  t.match(version, { ...put, isLatest: false });
  t.ok(
    (marker?.modifiedAt ?? 0) >= before - 1_000,
    "a version can be brought back for a while from when it was deleted",
  );
  t.equal((await store.getRange({ bucket: user.bucket, ...put }, 0, 9)).length, 10);
});

t.test(
  "an object that is put again after it was deleted has all its versions, and the marker removed brings the last one back",
  async (t) => {
    const user = await front.addUser();
    const store = front.storeOf(user);
    const first = await store.put(user.bucket, "a", "first", "text/plain");
    await store.remove(user.bucket, "a");
    const marker = (await versionsOf(user)).find(({ isMarker }) => isMarker);
    const second = await store.put(user.bucket, "a", "second", "text/plain");
    const ids = (await versionsOf(user)).map(({ versionId }) => versionId);
    t.same(new Set(ids), new Set([first.versionId, marker?.versionId, second.versionId]));
    await front.store.remove(user.bucket, "a", second.versionId);
    t.equal(await store.stat(user.bucket, "a"), null);
    await front.store.remove(user.bucket, "a", marker?.versionId);
    t.match(await store.stat(user.bucket, "a"), first);
    t.equal((await store.getRange({ bucket: user.bucket, ...first }, 0, 4)).toString(), "first");
  },
);

t.test("a download that has begun ends although its object is deleted meanwhile", async (t) => {
  const user = await front.addUser();
  const bytes = 24 * MIB;
  await front.storeOf(user).put(user.bucket, "long", Buffer.alloc(bytes, 1), "text/plain");
  const path = `/${user.bucket}/long`;
  const raw = new RawConnection(front);
  raw.socket.write(
    headText(`GET ${path}`, {
      ...(await signedHeaders(front, user.keys, "GET", path)),
      connection: "close",
    }),
  );
  await raw.until(/\r\n\r\n/);
  raw.socket.pause();
  await front.storeOf(user).remove(user.bucket, "long");
  raw.socket.resume();
  await raw.until(/$never/);
  t.equal(raw.received.length - raw.received.indexOf("\r\n\r\n") - 4, bytes);
});
