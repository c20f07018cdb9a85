/** Values that no honest client sends, each answered as the caller's fault with code and hint, never as ours. */
import t from "tap";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");

t.test("numbers beyond any machine, dates that no calendar has, ids of another form", async (t) => {
  const upload = "/api/users/storage/upload";
  const parts = [{ PartNumber: 1, ETag: '"x"' }];
  for (const [url, body] of [
    ["/api/customer/dashboard/jobs?limit=1e400", null],
    ["/api/customer/dashboard/jobs?offset=1e400", null],
    ["/api/customer/dashboard/jobs?limit=-1e400", null],
    ["/api/customer/dashboard/jobs?limit=0x10", null],
    ["/api/customer/dashboard/jobs?offset=9007199254740993", null],
    ["/api/audit/events?limit=1e400", null],
    ["/api/audit/events?from=0000-00-00T00:00:00Z", null],
    ["/api/audit/events?to=2026-02-30T00:00:00Z", null],
    ["/api/audit/events?from=2026-13-01T00:00:00.000Z", null],
    ["/api/audit/events/1e400", null],
    [`${upload}/complete`, { key: "jobs/a/b", uploadId: "../x", parts }],
    [`${upload}/complete`, { key: "jobs/a/b", uploadId: "x".repeat(129), parts }],
    [`${upload}/init`, { key: `jobs/${"x".repeat(256)}/b`, size: 1 }],
    [`${upload}/init`, { key: `jobs/${"ü".repeat(128)}`, size: 1 }],
    [`${upload}/abort`, { key: "jobs/a/b", uploadId: "../x" }],
    [`${upload}/abort`, { key: "jobs/a/b", uploadId: "\u0000" }],
  ] as const) {
    const { status, body: said } = await api.call(
      alice,
      body === null ? { url } : { url, method: "POST", payload: body },
    );
    t.ok(
      status >= 400 && status < 500,
      `${url} ${JSON.stringify(body)}: ${status} ${JSON.stringify(said)}`,
    );
    t.match(said, { code: String, message: String, hint: String }, url);
  }
});

t.test(
  "an upload below a key that is a file is refused by name, when it is begun and when it is completed",
  async (t) => {
    const init = (key: string) =>
      api.call(alice, {
        url: "/api/users/storage/upload/init",
        method: "POST",
        payload: { key, size: 1 },
      });
    const { body: opened } = await init("jobs/one/inner");
    await engine.store.put(alice.bucket, "jobs/one", "a file", "text/plain");
    const part = await engine.transport.send({
      method: "PUT",
      path: [alice.bucket, "jobs", "one", "inner"],
      query: { partNumber: "1", uploadId: String(opened["uploadId"]) },
      body: "x",
    });
    const parts = [{ PartNumber: 1, ETag: String(part.headers["etag"]) }];
    const completed = await api.call(alice, {
      url: "/api/users/storage/upload/complete",
      method: "POST",
      payload: { key: "jobs/one/inner", uploadId: opened["uploadId"], parts },
    });
    t.match(completed, { status: 409, body: { code: "key_conflict" } });
    const { status } = await init("jobs/one/other");
    t.ok(status === 200 || status === 409, `${status}`);
  },
);
