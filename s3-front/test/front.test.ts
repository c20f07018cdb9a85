import t from "tap";
import { fetchWithCa } from "../../coordinator/test/helper/fetch-with-ca.ts";
import { RunningFront } from "./helper/running-front.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());

t.test("a user's object goes in and comes out, and the log names who, what and how it was answered", async (t) => {
  const alice = await front.addUser();
  const store = front.storeOf(alice);
  const put = await store.put(alice.bucket, "jobs/a/one.txt", "hello", "text/plain");
  t.equal((await store.getRange({ bucket: alice.bucket, ...put }, 0, 4)).toString(), "hello");
  t.same(await store.list(alice.bucket, "jobs/", 10), [put]);
  await store.remove(alice.bucket, "jobs/a/one.txt");
  const url = await store.presignGet(alice.bucket, put.key, put.versionId, 60);
  t.equal(await (await fetchWithCa(front.caPem, url)).text(), "hello");
  const leaves = await front.leaves();
  const of = leaves.filter(({ actor }) => actor.sub === alice.userId);
  t.match(
    of.map(({ type, phase }) => `${type} ${phase}`),
    [
      "data.object.write requested",
      "data.object.write completed",
      "data.object.read fact",
      "data.bucket.list fact",
      "data.object.delete requested",
      "data.object.delete completed",
      "data.object.read fact",
    ],
  );
  t.notMatch(JSON.stringify(leaves), /canary|one\.txt/);
});
