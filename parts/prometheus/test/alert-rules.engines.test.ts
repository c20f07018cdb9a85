/** Every rule on the real Prometheus: none speaks while all is well, and each does for what it is there for. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { LogStatus } from "@resontech/contracts/audit-control";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { TIME_CLASSES_MS } from "@resontech/contracts/gateway-numbers";
import { JOB_STATES } from "@resontech/contracts/job-states";
import { backupFact, factsOfHost, partFact } from "@resontech/house/facts-of-host";
import t from "tap";
import type { InferenceFacts } from "@resontech/coordinator/inference-samples";
import { Metrics } from "@resontech/coordinator/metrics";
import { makeTestCa } from "@resontech/house/test-ca";
import { ALERT_RULES } from "../src/alert-rules.ts";
import { RunningPrometheus } from "@resontech/house/running-prometheus";
import { until } from "@resontech/house/until";

const DAY_MS = 86_400_000;
type State = { health: CoordinatorHealth; facts: ApplianceFacts; waitMs: number; log: LogStatus };

const well: State = {
  health: {
    ...{ loopLagMs: 1, brake: null, plannedStopUntil: null, bus: "up", database: "ok" },
    audit: { state: "ok", waiting: 0, oldestWaitMs: 0, loopLagMs: 1 },
    ...{ storage: "ok", endingKeys: [], hasApprover: true, clockStep: null },
    nodes: [
      {
        ...{ node: "node-a", state: "READY", silentMs: 500, loopLagMs: 1, diskFreeBytes: 10 },
        ...{ hasDisk: true, cordonReason: null, quarantined: [], unhealthy: [] },
        devices: [{ worker: "w1", memoryInUseBytes: 7, temperatureC: 60, ageMs: 0 }],
      },
    ],
  },
  facts: factsOfHost({
    at: Date.now() + DAY_MS,
    parts: [
      partFact({ part: "nats", isHealthy: true, isHeld: false, restarts: 0 }),
      partFact({ part: "s3", isHealthy: false, isHeld: true, restarts: 0 }),
    ],
    certificates: [{ file: "etc/ca/root.crt", expiresAt: Date.now() + 100 * DAY_MS }],
    disks: [
      {
        ...{ holds: "logs", totalBytes: 10, freeBytes: 5, totalInodes: 10, freeInodes: 5 },
        refusesBelowBytes: 2,
      },
    ],
    targets: [{ target: "mail", isFailing: false }],
    backup: backupFact({ takenAt: Date.now() }),
  }),
  waitMs: 0,
  log: {
    ...{ origin: "o", size: 1, checkpointSize: 1, batches: 1, draining: false },
    ...{ highestGeneration: 1, rolledBack: null, loopLagMs: 1 },
    clock: { trusted: true, heartbeatAt: null },
  },
};
const node = well.health.nodes[0]!;
const bad: State = {
  health: {
    ...well.health,
    ...{ database: "full", storage: "unavailable" },
    audit: { state: "halted", waiting: 9, oldestWaitMs: 90_000, loopLagMs: 1 },
    nodes: [
      { ...node, node: "lost", state: "DEAD", silentMs: 900_000 },
      { ...node, node: "silent", state: "SUSPECT", silentMs: 90_000 },
      {
        ...{ ...node, node: "ill", hasDisk: false },
        quarantined: [{ worker: "w1", reason: "leak" }],
        unhealthy: [{ worker: "w2", reason: "hot" }],
        devices: [{ worker: "w1", memoryInUseBytes: 7, temperatureC: 95, ageMs: 0 }],
      },
    ],
  },
  facts: factsOfHost({
    at: Date.now() - DAY_MS,
    parts: [partFact({ part: "nats", isHealthy: false, isHeld: false, restarts: 9 })],
    certificates: [{ file: "etc/ca/root.crt", expiresAt: Date.now() + 13 * DAY_MS }],
    disks: [
      {
        ...{ holds: "logs", totalBytes: 100, freeBytes: 9, totalInodes: 100, freeInodes: 9 },
        refusesBelowBytes: 5,
      },
      { holds: "objects", totalBytes: 100, freeBytes: 1, totalInodes: 100, freeInodes: 90 },
    ],
    targets: [{ target: "mail", isFailing: true }],
    backup: backupFact({ takenAt: 0, isOverdue: true, behindS: 3_600 }),
  }),
  waitMs: 5 * 3_600_000,
  log: { ...well.log, draining: true },
};

let state: State | null = well;
const metrics = new Metrics({
  uses: { members: () => [], nodes: () => [], devices: () => [] },
  ...{ version: "0.0.0", now: () => Date.now(), workers: () => [] },
  work: () => ({
    jobs: new Map(JOB_STATES.map((name) => [name, 0])),
    ...{ waiting: 1, longestWaitMs: state?.waitMs ?? 0, leases: 0 },
  }),
  health: async () => (state ?? well).health,
  log: async () => (state ?? well).log,
  appliance: () => (state ?? well).facts,
  inference: () => (state === bad ? [failing()] : []),
});

/** A deployment whose calls fail, more of them at each look. */
function failing(): InferenceFacts {
  const requests = Math.floor(performance.now());
  const times = { counts: [...TIME_CLASSES_MS.map(() => 0), requests], sumMs: requests };
  return {
    ...{ id: "job-1", state: "FAILED", replicas: [], inFlight: 0, waiting: 0 },
    numbers: {
      ...{ deployment: "job-1", requests, errors: { "503": requests }, duration: times },
      ...{ firstByte: times, promptTokens: 0, completionTokens: 0 },
    },
  };
}
const dir = t.testdir({ pki: {}, token: "a".repeat(43) });
const { caFile, certFile, keyFile } = await makeTestCa(join(dir, "pki"));
const server = createServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  (_request, reply) => {
    if (state === null) return void reply.writeHead(503).end();
    metrics.text().then(
      (text) => reply.writeHead(200, { "content-type": metrics.contentType }).end(text),
      () => reply.writeHead(500).end(),
    );
  },
).listen(0, "127.0.0.1");
await once(server, "listening");
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
// Whoever waits for minutes tests the clock, and not the rule.
const rules = ALERT_RULES.map((rule) => ({ ...rule, forDuration: null }));
const asked = {
  door: { address: "127.0.0.1", port: (server.address() as AddressInfo).port, name: "localhost" },
  ...{ tokenFile: join(dir, "token"), doorCa: caFile },
};
const prometheus = await RunningPrometheus.create(join(dir, "prometheus"), asked, rules);
t.teardown(() => prometheus[Symbol.asyncDispose]());

const firing = async (of = prometheus): Promise<string[]> => [
  ...new Set(
    (await of.alerts())
      .filter((alert) => alert.state === "firing")
      .map(({ labels }) => labels["alertname"] ?? ""),
  ),
];

t.test("nothing speaks while all is well", async (t) => {
  const isSeen = async () => (await prometheus.query("resontech_part_up")).length > 0;
  t.ok(await until(isSeen, 120_000), prometheus.output);
  t.ok(await until(async () => (await firing()).length === 0, 120_000), String(await firing()));
  // Several looks further still nothing, a held part included.
  await sleep(4_000);
  t.same(await firing(), []);
});

t.test("rules speak for what they are there for, in words that are whole", async (t) => {
  state = bad;
  const ofFigures = ALERT_RULES.map(({ alert }) => alert).filter(
    (alert) => !["CoordinatorUnreachable", "ScrapeFails"].includes(alert),
  );
  t.ok(
    await until(async () => {
      const now = await firing();
      return ofFigures.every((alert) => now.includes(alert));
    }, 30_000),
    "some rule is silent",
  );
  const now = await firing();
  t.same(
    ofFigures.filter((alert) => !now.includes(alert)),
    [],
  );
  for (const { labels, annotations } of await prometheus.alerts())
    for (const text of Object.values(annotations))
      t.notMatch(text, /<error|<no value>|\{\{|%!/, labels["alertname"] ?? "");
});

t.test("a coordinator that answers no more is told of", async (t) => {
  state = null;
  const isTold = async () => (await firing()).includes("CoordinatorUnreachable");
  t.ok(await until(isTold, 120_000), String(await firing()));
  state = well;
  t.ok(await until(async () => !(await isTold()), 120_000));
});

t.test("a part whose figures can't be read is told of", async (t) => {
  // Nobody listens there.
  const lost = await RunningPrometheus.create(
    join(dir, "lost"),
    { ...asked, keycloakPort: 1 },
    rules,
  );
  t.teardown(() => lost[Symbol.asyncDispose]());
  const isTold = async () => (await firing(lost)).includes("ScrapeFails");
  t.ok(await until(isTold, 120_000), String(await firing(lost)));
});
