/** Figures of deployments in a terminal. */
import type { DeploymentMetrics, UsageEntry } from "@resontech/contracts/http-inference";
import t from "tap";
import { TOP_HEAD, topRow, USAGE_HEAD, usageRow } from "../src/infer/figures.ts";

const metrics: DeploymentMetrics = {
  ...{ id: "job-1", name: "chat", projectId: "p_1", status: "RUNNING" },
  serving: { state: "HOT", since: "2026-01-01T00:00:00.000Z", ready: 2, starting: 0, wakeMs: null },
  devices: [
    { replica: "r-1", worker: "n-0", usePercent: 40, memoryBytes: 1 },
    { replica: "r-2", worker: "n-1", usePercent: 61, memoryBytes: 1 },
    { replica: "r-3", worker: "n-2", usePercent: null, memoryBytes: 1 },
  ],
  figures: {
    ...{ windowS: 60, inFlight: 3, waiting: 0, requestsPerSecond: 2.345, errorsPerSecond: 0 },
    ...{ errors: {}, durationMs: { p50: 12.4, p95: 999, p99: 2_340 } },
    firstByteMs: { p50: 8, p95: 9, p99: 9 },
    ...{ promptTokensPerSecond: 10, completionTokensPerSecond: 123.4 },
  },
};

t.test("a deployment is a row", async (t) => {
  t.same(topRow(metrics), [
    ...["job-1", "chat", "HOT", "2", "3", "0", "2.35", "0", "12ms", "999ms", "2.3s", "8ms"],
    ...["123", "51%"],
  ]);
  t.equal(topRow(metrics).length, TOP_HEAD.length);
});

t.test("what nobody knows is a dash", async (t) => {
  const { figures } = metrics;
  const unknown = { inFlight: null, waiting: null, durationMs: null, firstByteMs: null };
  t.same(
    topRow({ ...metrics, serving: null, devices: [], figures: { ...figures, ...unknown } }).slice(
      2,
    ),
    ["RUNNING", "0", "-", "-", "2.35", "0", "-", "-", "-", "-", "123", "-"],
  );
});

t.test("usage that is a lower bound says so", async (t) => {
  const entry: UsageEntry = {
    ...{ day: "2026-01-02", deployment: "job-1", name: null, projectId: "p_1", keyId: null },
    ...{ calls: 3, failed: 1, inexact: 0, promptTokens: 5, completionTokens: 7 },
  };
  t.same(usageRow(entry), ["2026-01-02", "job-1", "-", "own", "3", "1", "5", "7"]);
  t.same(usageRow({ ...entry, inexact: 1, keyId: "k_1" }).slice(3), [
    "k_1",
    "3",
    "1",
    ">=5",
    ">=7",
  ]);
  t.equal(usageRow(entry).length, USAGE_HEAD.length);
});
