import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";
import { headText, RawConnection, signedHeaders } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser();
const store = front.storeOf(user);

/** More than an engine may have read before it looks at the request. */
const SENT = Buffer.alloc(100_000, 7);
const ANNOUNCED = 1_000_000;

async function breakOff(target: string, headers: Record<string, string>): Promise<void> {
  const raw = new RawConnection(front);
  raw.socket.write(headText(`PUT ${target}`, { ...headers, "content-length": String(ANNOUNCED) }));
  raw.socket.write(SENT);
  await sleep(200);
  raw.close();
  await sleep(300);
}

t.test("an upload that breaks off leaves the object as it was", async (t) => {
  const before = await store.put(user.bucket, "kept", "whole", "text/plain");
  const path = `/${user.bucket}/kept`;
  const presigned = new URL(
    await front.transportOf(user.keys).presign("PUT", [user.bucket, "kept"], {}, 60),
  );
  const host = { host: presigned.host };
  for (const [what, target, headers] of [
    ["signed in a header", path, await signedHeaders(front, user.keys, "PUT", path)],
    ["signed in its URL", presigned.pathname + presigned.search, host],
  ] as const) {
    await breakOff(target, headers);
    t.match(await store.stat(user.bucket, "kept"), before, what);
  }
  const versions: string[] = [];
  for await (const page of store.versions(user.bucket))
    versions.push(...page.map(({ versionId }) => versionId));
  t.same(versions, [before.versionId]);
});

t.test("a part that breaks off leaves the one of its number", async (t) => {
  const uploadId = await store.createUpload(user.bucket, "parts", "text/plain");
  const url = await store.presignPart(user.bucket, "parts", uploadId, 1, 60);
  t.equal((await fetchWithCa(front.caPem, url, { method: "PUT", body: "whole" })).status, 200);
  const { host, pathname, search } = new URL(url);
  await breakOff(pathname + search, { host });
  const etag = createHash("md5").update("whole").digest("hex");
  await store.completeUpload(user.bucket, "parts", uploadId, [{ partNumber: 1, etag }]);
  t.match(await store.stat(user.bucket, "parts"), { sizeBytes: 5 });
});

t.test("an upload that breaks off together with the front leaves nothing", async (t) => {
  const path = `/${user.bucket}/killed`;
  const headers = {
    ...(await signedHeaders(front, user.keys, "PUT", path)),
    "content-length": String(ANNOUNCED),
  };
  const before = await front.leafCount();
  const raw = new RawConnection(front);
  raw.socket.write(headText(`PUT ${path}`, headers));
  raw.socket.write(SENT);
  await front.untilLeaf(({ phase }) => phase === "requested", before);
  await front.stopFront("SIGKILL");
  await front.startFront();
  t.equal(await store.stat(user.bucket, "killed"), null);
});
