/** What our patches make of the engine (airgap/recipes/versitygw), as clients meet it. */
import t from "tap";
import { S3ResponseError } from "@resontech/coordinator/s3-transport";
import { S3ObjectStore } from "@resontech/coordinator/object-store";
import { RunningFront } from "./helper/running-front.ts";
import type { FrontUser } from "@resontech/coordinator/testing/front-world";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());

async function statusOf(
  user: FrontUser,
  method: "GET" | "HEAD" | "PUT" | "DELETE",
  key: string,
  headers: Record<string, string> = {},
) {
  try {
    const body =
      method === "PUT" && headers["x-amz-copy-source"] === undefined ? { body: "x" } : {};
    return (
      await front
        .transportOf(user.keys)
        .send({ method, path: [user.bucket, key], headers, ...body })
    ).status;
  } catch (error) {
    if (error instanceof S3ResponseError) return error.status;
    throw error;
  }
}

/** Key, and what stands there, of all versions. */
async function versionsOf(user: FrontUser, pageEntries?: number): Promise<string[]> {
  const found: string[] = [];
  for await (const page of new S3ObjectStore(front.transport, pageEntries).versions(user.bucket))
    found.push(
      ...page.map(
        ({ key, isMarker, isLatest, sizeBytes }) =>
          `${key} ${isMarker ? "marker" : sizeBytes}${isLatest ? " latest" : ""}`,
      ),
    );
  return found.sort();
}

t.test(
  "a key that the engine takes can be replaced and deleted, and one that it could not keep is refused at once",
  async (t) => {
    const user = await front.addUser();
    const store = front.storeOf(user);
    for (const [bytes, letter] of [
      [227, "a"],
      [228, "a"],
      [254, "ü"],
      [255, "a"],
    ] as const) {
      const key = `jobs/${letter.repeat(bytes / Buffer.byteLength(letter))}`;
      for (const body of ["one", "two!"]) await store.put(user.bucket, key, body, "text/plain");
      t.match(await store.stat(user.bucket, key), { sizeBytes: 4 }, `${bytes} bytes`);
      await store.remove(user.bucket, key);
      t.equal(await store.stat(user.bucket, key), null);
      await store.put(user.bucket, key, "three", "text/plain");
      t.equal((await versionsOf(user)).filter((version) => version.startsWith(key)).length, 4);
    }
    for (const key of [`jobs/${"a".repeat(256)}`, `${"ü".repeat(128)}/x`, `${"a".repeat(256)}/`]) {
      const reason = { code: "KeyTooLongError", status: 400, message: /255 bytes/ };
      await t.rejects(store.put(user.bucket, key, "", "text/plain"), reason);
      await t.rejects(store.createUpload(user.bucket, key, "text/plain"), reason);
    }
  },
);

t.test(
  "a file that is deleted may become a folder, and what it was stays its history",
  async (t) => {
    const user = await front.addUser();
    const store = front.storeOf(user);
    const first = await store.put(user.bucket, "m", "first", "text/plain");
    await store.put(user.bucket, "m", "second", "text/plain");
    t.equal(await statusOf(user, "PUT", "m/w"), 409, "while it is there, it is in the way");
    await store.remove(user.bucket, "m");
    await store.put(user.bucket, "m/w/deep", "below", "text/plain");
    await store.put(user.bucket, "m-x", "beside", "text/plain");
    t.same(
      (await store.list(user.bucket, "", 10)).map(({ key }) => key),
      ["m-x", "m/w/deep"],
    );
    const all = ["m 5", "m 6", "m marker", "m-x 6 latest", "m/w/deep 5 latest"];
    t.same(await versionsOf(user), all, "nothing is lost from the count");
    for (const pageEntries of [2, 3, 4])
      t.same(await versionsOf(user, pageEntries), all, `in pages of ${pageEntries}`);
    t.same(await store.list(user.bucket, "m/", 10).then((listed) => listed.map(({ key }) => key)), [
      "m/w/deep",
    ]);
    t.equal(
      (await store.getRange({ bucket: user.bucket, ...first }, 0, 4)).toString(),
      "first",
      "an old version is read by its id",
    );
    t.equal(await statusOf(user, "GET", "m"), 404);
    t.equal(await statusOf(user, "DELETE", "m"), 204, "a folder is no object of this name");
    t.equal(await statusOf(user, "GET", "m/w/deep"), 200);
    await front.store.remove(user.bucket, "m", first.versionId);
    t.same(
      await versionsOf(user),
      all.filter((version) => version !== "m 5"),
      "its versions can be collected one by one",
    );

    await store.put(user.bucket, "p", "file", "text/plain");
    await store.remove(user.bucket, "p");
    const uploadId = await store.createUpload(user.bucket, "p/q", "text/plain");
    const part = await front.transportOf(user.keys).send({
      ...{
        method: "PUT",
        path: [user.bucket, "p/q"],
        query: { partNumber: "1", uploadId },
        body: "whole",
      },
    });
    const etag = String(part.headers.etag).replaceAll('"', "");
    await store.completeUpload(user.bucket, "p/q", uploadId, [{ partNumber: 1, etag }]);
    t.match(
      await store.stat(user.bucket, "p/q"),
      { sizeBytes: 5 },
      "by an upload in parts as well",
    );
  },
);

t.test("a listing that is asked for in escapes has them, of every kind", async (t) => {
  const user = await front.addUser();
  const own = front.transportOf(user.keys);
  const key = "d/a b+c&%41ü/(1).txt";
  await front.storeOf(user).put(user.bucket, key, "x", "text/plain");
  await front.storeOf(user).createUpload(user.bucket, key, "text/plain");
  const kinds: Record<string, string>[] = [
    {},
    { "list-type": "2" },
    { versions: "" },
    { uploads: "" },
  ];
  for (const kind of kinds) {
    const query = { ...kind, prefix: "d/a b", "encoding-type": "url" };
    const body = (await own.send({ method: "GET", path: [user.bucket], query })).body.toString();
    const [, listed = ""] = /<Key>(.*?)<\/Key>/.exec(body) ?? [];
    t.match(body, "<EncodingType>url</EncodingType>");
    t.match(body, "<Prefix>d/a%20b</Prefix>");
    t.notMatch(listed, /[ +&ü]/, JSON.stringify(kind));
    t.equal(decodeURIComponent(listed), key);
  }
});

t.test("a folder whose objects are all deleted is in no listing, at no depth", async (t) => {
  const user = await front.addUser();
  const store = front.storeOf(user);
  for (const key of ["gone/a", "gone/b/c", "left/a", "left/b/c", "marked/"])
    await store.put(user.bucket, key, "", "text/plain");
  const folders = async (prefix: string): Promise<(string | undefined)[]> => {
    const query = { "list-type": "2", delimiter: "/", prefix };
    const body = (
      await front.transportOf(user.keys).send({ method: "GET", path: [user.bucket], query })
    ).body.toString();
    return [...body.matchAll(/<CommonPrefixes><Prefix>(.*?)<\/Prefix>/g)].map(
      ([, folder]) => folder,
    );
  };
  t.same(await folders(""), ["gone/", "left/", "marked/"]);
  for (const key of ["gone/a", "gone/b/c", "left/a"]) await store.remove(user.bucket, key);
  t.same(await folders(""), ["left/", "marked/"]);
  t.same(await folders("left/"), ["left/b/"]);
  t.same(await folders("gone/"), []);
  await store.remove(user.bucket, "marked/");
  t.same(await folders(""), ["left/"]);
});

t.test(
  "conditions on dates hold at the very second that Last-Modified tells, for copies too",
  async (t) => {
    const user = await front.addUser();
    await front.storeOf(user).put(user.bucket, "x", "x", "text/plain");
    const { headers } = await front
      .transportOf(user.keys)
      .send({ method: "HEAD", path: [user.bucket, "x"] });
    const at = Date.parse(String(headers["last-modified"]));
    for (const [seconds, modified, unmodified] of [
      [-1, 200, 412],
      [0, 304, 200],
    ] as const) {
      const date = new Date(at + seconds * 1000).toUTCString();
      for (const method of ["GET", "HEAD"] as const) {
        t.equal(
          await statusOf(user, method, "x", { "if-modified-since": date }),
          modified,
          `${method} modified ${seconds} s`,
        );
        t.equal(
          await statusOf(user, method, "x", { "if-unmodified-since": date }),
          unmodified,
          `${method} unmodified ${seconds} s`,
        );
      }
      const source = { "x-amz-copy-source": `/${user.bucket}/x` };
      t.equal(
        await statusOf(user, "PUT", "y", {
          ...source,
          "x-amz-copy-source-if-modified-since": date,
        }),
        modified === 200 ? 200 : 412,
      );
      t.equal(
        await statusOf(user, "PUT", "y", {
          ...source,
          "x-amz-copy-source-if-unmodified-since": date,
        }),
        unmodified,
      );
    }
  },
);
