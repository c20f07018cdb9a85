import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { RunningFront } from "./helper/running-front.ts";
import { headText, RawConnection, signedHeaders } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const KIB = 1024;

/** Sends a request while the engine sleeps, and goes away without an answer. */
async function hangUp(request: string, headers: Record<string, string>, body = ""): Promise<void> {
  const before = await front.leafCount();
  const raw = new RawConnection(front);
  raw.socket.write(headText(request, headers) + body);
  await front.untilLeaf(({ phase }) => phase === "requested", before);
  raw.close();
}

t.test("what a change does after its client has gone is recorded as it was done", async (t) => {
  const user = await front.addUser();
  const path = `/${user.bucket}/gone`;
  const headers = {
    ...(await signedHeaders(front, user.keys, "PUT", path)),
    "content-length": "5",
  };
  await front.storeOf(user).put(user.bucket, "other", "x", "text/plain");
  // An end may be on record after its answer: it must not be taken for that of the write to come.
  await front.untilLeaf(({ type, phase }) => type === "data.object.write" && phase === "completed");
  const begunAt = await front.leafCount();
  process.kill(front.enginePid, "SIGSTOP");
  await hangUp(`PUT ${path}`, headers, "hello");
  await hangUp(
    `DELETE /${user.bucket}/other`,
    await signedHeaders(front, user.keys, "DELETE", `/${user.bucket}/other`),
  );
  process.kill(front.enginePid, "SIGCONT");
  for (const type of ["data.object.write", "data.object.delete"])
    await front.untilLeaf((leaf) => leaf.type === type && leaf.phase !== "requested", begunAt);
  t.match(await front.storeOf(user).stat(user.bucket, "gone"), { sizeBytes: 5 });
  t.equal(await front.storeOf(user).stat(user.bucket, "other"), null);
  const leaves = await front.leaves();
  for (const type of ["data.object.write", "data.object.delete"])
    t.match(
      leaves.findLast((leaf) => leaf.type === type),
      { phase: "completed", outcome: { code: "ok" } },
      type,
    );
});

t.test(
  "a copy keeps its room while the engine makes it, whether or not its client waits",
  async (t) => {
    const user = await front.addUser(34 * KIB);
    const store = front.storeOf(user);
    await store.put(user.bucket, "source", Buffer.alloc(10 * KIB), "text/plain");
    const uploadId = await store.createUpload(user.bucket, "copy", "text/plain");
    const path = `/${user.bucket}/copy?partNumber=1&uploadId=${uploadId}`;
    const headers = await signedHeaders(front, user.keys, "PUT", path, {
      ...{
        "x-amz-copy-source": `/${user.bucket}/source`,
        "x-amz-copy-source-range": `bytes=0-${10 * KIB - 1}`,
      },
    });
    process.kill(front.enginePid, "SIGSTOP");
    await hangUp(`PUT ${path}`, headers);
    // Of an engine that sleeps no listing could tell what is on its way.
    const refused = t.rejects(
      store.put(user.bucket, "over", Buffer.alloc(11 * KIB), "text/plain"),
      { code: "QuotaExceeded" },
    );
    t.equal(
      await Promise.race([
        refused.then(() => "refused"),
        sleep(30_000, "it waits for the engine", { ref: false }),
      ]),
      "refused",
    );
    process.kill(front.enginePid, "SIGCONT");
    await refused;
    const used = async () => (await front.store.usage(user.bucket)).usedBytes;
    for (let tries = 0; tries < 5_000 && (await used()) !== 24 * KIB; tries++) await sleep(20);
    t.equal(await used(), 24 * KIB);
    await store.put(user.bucket, "fits", Buffer.alloc(10 * KIB), "text/plain");
  },
);
