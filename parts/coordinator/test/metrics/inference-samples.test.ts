/** What Prometheus reads of deployments: bounded, and nothing of what is gone. */
import { type DeploymentNumbers, TIME_CLASSES_MS } from "@resontech/contracts/gateway-numbers";
import t from "tap";
import {
  type InferenceFacts,
  inferenceFamilies,
} from "../../src/metrics/decisions/inference-samples.ts";
import { gaugeRegistry } from "../../src/metrics/gauge-registry.ts";

const times = (counts: Record<number, number>) => ({
  counts: TIME_CLASSES_MS.map((end) => counts[end] ?? 0).concat(counts[Infinity] ?? 0),
  sumMs: 1_500,
});
const numbers: DeploymentNumbers = {
  ...{ deployment: "job-1", requests: 4, errors: { "429": 1, client_gone: 2 } },
  ...{ duration: times({ 500: 3, [Infinity]: 1 }), firstByte: times({ 5: 1 }) },
  ...{ promptTokens: 20, completionTokens: 30 },
};
const facts = (id: string, change: Partial<InferenceFacts> = {}): InferenceFacts => ({
  ...{ id, state: "HOT", replicas: [{ state: "READY" }, { state: "READY" }, { state: "WARMING" }] },
  ...{ inFlight: 2, waiting: 1, numbers: { ...numbers, deployment: id }, ...change },
});
const textOf = (all: readonly InferenceFacts[]) => gaugeRegistry(inferenceFamilies(all)).metrics();

t.test("counts, times as a histogram, replicas by state", async (t) => {
  const text = await textOf([
    facts("job-1"),
    facts("job-2", { state: "FAILED", replicas: [], inFlight: null, waiting: null, numbers: null }),
  ]);
  for (const line of [
    'inference_deployments{state="hot"} 1',
    'inference_deployments{state="cold"} 0',
    'inference_deployment_failed{deployment="job-1"} 0',
    'inference_deployment_failed{deployment="job-2"} 1',
    'inference_replicas{deployment="job-1",state="ready"} 2',
    'inference_replicas{deployment="job-1",state="warming"} 1',
    'inference_in_flight{deployment="job-1"} 2',
    'inference_waiting{deployment="job-1"} 1',
    'inference_requests_total{deployment="job-1"} 4',
    'inference_errors_total{deployment="job-1",code="429"} 1',
    'inference_errors_total{deployment="job-1",code="client_gone"} 2',
    'inference_completion_tokens_total{deployment="job-1"} 30',
    'inference_duration_seconds_bucket{deployment="job-1",le="0.2"} 0',
    'inference_duration_seconds_bucket{deployment="job-1",le="0.5"} 3',
    'inference_duration_seconds_bucket{deployment="job-1",le="600"} 3',
    'inference_duration_seconds_bucket{deployment="job-1",le="+Inf"} 4',
    'inference_duration_seconds_sum{deployment="job-1"} 1.5',
    'inference_duration_seconds_count{deployment="job-1"} 4',
    'inference_first_byte_seconds_bucket{deployment="job-1",le="0.005"} 1',
  ])
    t.ok(text.includes(`resontech_${line}\n`), line);
  for (const [name, type] of [
    ["inference_duration_seconds", "histogram"],
    ["inference_first_byte_seconds", "histogram"],
    ["inference_requests_total", "counter"],
    ["inference_in_flight", "gauge"],
  ])
    t.ok(text.includes(`# TYPE resontech_${name} ${type}\n`), `${name} is a ${type}`);
  t.notOk(/# TYPE \S+_(bucket|sum|count) /.test(text), "parts of a histogram have no type");
  t.notOk(text.includes('requests_total{deployment="job-2"}'), "nothing was counted of it");
});

t.test("of a thousand deployments as many lines are told as Prometheus takes", async (t) => {
  const many = Array.from({ length: 1_000 }, (_, index) =>
    facts(`job-${index}`, { numbers: { ...numbers, requests: index } }),
  );
  const lines = (await textOf(many)).split("\n").filter((line) => !line.startsWith("#"));
  t.ok(lines.length < 12_000, `${lines.length} lines`);
  t.ok(lines.some((line) => line.includes('"job-999"')));
  t.notOk(lines.some((line) => line.includes('"job-1"')));
});

t.test("without a deployment there is none of a deployment's lines", async (t) => {
  t.notMatch(await textOf([]), /deployment="/);
});
