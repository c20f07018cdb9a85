/** Which requests are calls of deployments. */
import t from "tap";
import { callOf, keyOf, requestIdOf } from "../src/call.ts";

t.test("a call has a deployment and a word, and its own method", async (t) => {
  t.same(callOf("POST", "/inference/job-1/predict"), { deployment: "job-1", kind: "predict" });
  t.same(callOf("GET", "/inference/job-1/health?x=1"), { deployment: "job-1", kind: "health" });
  for (const [method, url] of [
    ["PUT", "/inference/job-1/predict"],
    ["POST", "/inference/job_1/predict"],
    ["POST", "/inference/job-1"],
    ["POST", "/x/inference/job-1/predict"],
    ["POST", undefined],
  ] as const)
    t.equal(callOf(method, url), null, `${method} ${url}`);
});

t.test("what is left is a path of a program's own, raw and with its query", async (t) => {
  for (const [method, path] of [
    ["GET", "/predict"],
    ["POST", "/health"],
    ["POST", "/predict/"],
    ["POST", "/v2/models/a%2Fb/../infer?x=1"],
  ] as const)
    t.same(callOf(method, `/inference/job-1${path}`), {
      ...{ deployment: "job-1", kind: "own", method, path },
    });
});

t.test("a key comes in the client's header or as Bearer", async (t) => {
  t.equal(keyOf({ "x-api-key": "k", authorization: "Bearer other" }), "k");
  t.equal(keyOf({ authorization: "bearer k" }), "k");
  t.equal(keyOf({ authorization: "Basic k" }), null);
  t.equal(keyOf({}), null);
});

t.test("a request's own name is said again only where that is safe", async (t) => {
  t.equal(requestIdOf({ "x-request-id": "a-1" }), "a-1");
  t.equal(requestIdOf({ "x-request-id": "a\n" }), null);
  t.equal(requestIdOf({ "x-request-id": "a".repeat(129) }), null);
});
