/** What pages decide about deployments. */
import type { DeploymentReply, DeploymentRow } from "@resontech/contracts/http-inference";
import type { Change } from "@resontech/contracts/live-feed";
import t from "tap";
import { applyToDeployment, concernsDeployments } from "../src/live/apply-to-deployments.ts";
import { unknownJobs } from "../src/live/apply-to-list.ts";
import type { Told } from "../src/live/told.ts";
import { deploymentSentence } from "../src/pages/inference/deployment-sentence.ts";
import { contentTypeOf } from "../src/pages/inference/predict.ts";
import { curlSnippet, pythonSnippet } from "../src/pages/inference/snippets.ts";

const told = (change: Change): Told => ({
  ...{ at: "2026-01-01T00:00:01.000Z", change },
});
const moved = (job: string, more: Partial<Extract<Change, { kind: "job" }>> = {}): Told =>
  told({
    ...{ kind: "job", job, attempt: null, from: "STAGING", to: "RUNNING", event: "start" },
    ...{ reason: null, journal: 1, ...more },
  });
const ROW: DeploymentRow = {
  ...{ id: "job-1", name: "echo", projectId: "p", owner: "ada", status: "QUEUED" },
  ...{ state: "QUEUED", since: "2026-01-01T00:00:00.000Z", reason: null, waitingFor: "a worker" },
  ...{ endpoint: "https://a:8000/inference/job-1", visibility: "PRIVATE", ready: 0 },
  ...{ createdAt: "2026-01-01T00:00:00.000Z", startedAt: null, endedAt: null },
};

t.test("a row follows its own deployment alone", async (t) => {
  t.equal(applyToDeployment(ROW, moved("job-2")), ROW, "the same object");
  t.match(applyToDeployment(ROW, moved("job-1")), {
    ...{ state: "RUNNING", waitingFor: null, startedAt: "2026-01-01T00:00:01.000Z" },
    endedAt: null,
  });
  t.match(applyToDeployment(ROW, told({ kind: "waiting", job: "job-1", why: "room" })), {
    waitingFor: "room",
  });
  const ended = applyToDeployment(ROW, moved("job-1", { to: "FAILED", reason: "user_exception" }));
  t.match(ended, { reason: "user_exception", endedAt: "2026-01-01T00:00:01.000Z" });
});

t.test(
  "a new deployment is news to the list of deployments, and none to that of jobs",
  async (t) => {
    const known = new Set(["job-1"]);
    const made = moved("job-2", { from: null, to: "ACCEPTED", workload: "predictor" });
    const task = moved("job-3", { from: null, to: "ACCEPTED", workload: "federation" });
    t.same(unknownJobs(known, [made, task]), ["job-3"]);
    t.equal(concernsDeployments(known, [made]), true);
    t.equal(concernsDeployments(known, [task]), false);
    t.equal(concernsDeployments(known, [moved("job-1")]), true);
    t.equal(concernsDeployments(known, [moved("job-9")]), false);
  },
);

t.test("a deployment is told in one sentence", async (t) => {
  const of = (
    detail: Partial<DeploymentReply["detail"]>,
    isReady: boolean[] = [],
    startedAt: string | null = null,
  ) =>
    deploymentSentence({
      detail: { state: "RUNNING", desired: "run", waitingFor: null, attempt: 2, ...detail },
      replicas: isReady.map((ready) => ({ isReady: ready })),
      startedAt,
    } as unknown as DeploymentReply);
  t.equal(of({}, [true, false]), "It answers on 1 replica.");
  t.equal(of({}, [true, true]), "It answers on 2 replicas.");
  t.equal(of({}, [false]), "It runs, and no replica answers yet.");
  t.equal(of({ state: "QUEUED", waitingFor: "needs 1 worker" }), "Needs 1 worker");
  t.equal(of({ desired: "stop" }, [true]), "It was asked to stop, and takes no call.");
  t.equal(of({ state: "CANCELLED", desired: "stop" }, [], "x"), "It was stopped.");
  t.equal(of({ state: "CANCELLED", desired: "stop" }), "It was stopped before it answered.");
});

t.test("the predictor gets bytes as they are", async (t) => {
  t.equal(contentTypeOf("image/png"), "image/png");
  for (const type of ["application/json", "multipart/form-data", "text/plain", ""])
    t.equal(contentTypeOf(type), "application/octet-stream", type);
});

t.test("no snippet shows a key in a command line", async (t) => {
  const endpoint = "https://box.example:8000/inference/job-1";
  const curl = curlSnippet(endpoint);
  t.match(
    curl,
    /--data-binary @photo\.png https:\/\/box\.example:8000\/inference\/job-1\/predict$/,
  );
  t.match(curl, /curl .*--header @key\.header/);
  t.notMatch(curl.split("\n").slice(2).join("\n"), /RESON_INFERENCE_API_KEY/);
  t.match(pythonSnippet(endpoint), /url="https:\/\/box\.example:8000\/inference\/job-1"/);
});
