import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { JOB_STATES } from "@resontech/contracts/job-states";
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import { backupFact, factsOfHost, partFact } from "@resontech/house/facts-of-host";
import t from "tap";
import { Metrics, type MetricsSources } from "../../src/metrics/metrics.ts";

const health: CoordinatorHealth = {
  ...{ loopLagMs: 1, brake: null, plannedStopUntil: null, bus: "up", database: "ok" },
  audit: { state: "ok", waiting: 3, oldestWaitMs: 2_000, loopLagMs: 1 },
  ...{ storage: "unavailable", endingKeys: [], hasApprover: true, clockStep: null },
  nodes: [
    {
      ...{ node: "node-a", state: "READY", silentMs: 500, loopLagMs: 1, diskFreeBytes: 10 },
      ...{ hasDisk: true, cordonReason: null, quarantined: [{ worker: "w1", reason: "leak" }] },
      devices: [{ worker: "w1", memoryInUseBytes: 7, temperatureC: 93, ageMs: 0 }],
    },
  ],
};
const facts = factsOfHost({
  at: 1_000,
  parts: [partFact({ part: "nats", isHealthy: false, isHeld: false, restarts: 4 })],
  certificates: [{ file: 'etc/a"\\\n.crt', expiresAt: 5_000 }],
  disks: [{ holds: "logs", totalBytes: 10, freeBytes: 1, totalInodes: 0, freeInodes: 0 }],
  backup: backupFact({ takenAt: 7_000, isOverdue: false, behindS: 2 }),
});
const MEMBER = { job: "j", attempt: "1", member: "m", site: "site-1", node: "node-a" };
const OF_MEMBER = 'job="j",attempt="1",member="m",site="site-1",node="node-a"';
const sources: MetricsSources = {
  ...{ version: "1.2.3", now: () => 11_000 },
  work: () => ({
    jobs: new Map(JOB_STATES.map((state) => [state, state === "QUEUED" ? 2 : 0])),
    ...{ waiting: 2, longestWaitMs: 60_000, leases: 1 },
  }),
  workers: () => [],
  uses: {
    members: () => [{ ...MEMBER, use: { cpuMs: 1_500, memoryKib: 2, memoryLimitMib: 3 } }],
    nodes: () => [{ node: "node-a", use: { processors: 4, cpuMs: 2_500, diskBytes: 9 } }],
    devices: () => [{ ...MEMBER, worker: "w1" }],
  },
  health: async () => health,
  log: () => Promise.reject(new Error("away")),
  appliance: () => facts,
};

const linesOf = (text: string): string[] =>
  text.split("\n").filter((line) => line.startsWith("resontech_"));

t.test("what is known has its line, and every line has help and type", async (t) => {
  const text = await new Metrics(sources).text();
  const lines = linesOf(text);
  for (const line of [
    'resontech_build_info{version="1.2.3"} 1',
    'resontech_jobs{state="queued"} 2',
    'resontech_jobs{state="failed"} 0',
    "resontech_jobs_longest_wait_seconds 60",
    "resontech_leases 1",
    "resontech_storage_up 0",
    'resontech_audit_state{state="halted"} 0',
    "resontech_audit_outbox_records 3",
    "resontech_audit_answers 0",
    'resontech_node_ready{node="node-a"} 1',
    'resontech_devices_quarantined{node="node-a"} 1',
    'resontech_device_temperature_celsius{node="node-a",worker="w1"} 93',
    `resontech_member_cpu_seconds_total{${OF_MEMBER}} 1.5`,
    `resontech_member_memory_bytes{${OF_MEMBER}} 2048`,
    `resontech_member_memory_limit_bytes{${OF_MEMBER}} 3145728`,
    `resontech_member_device{${OF_MEMBER},worker="w1"} 1`,
    'resontech_node_processors{node="node-a"} 4',
    'resontech_node_cpu_seconds_total{node="node-a"} 2.5',
    'resontech_node_disk_bytes{node="node-a"} 9',
    'resontech_part_up{part="nats"} 0',
    'resontech_part_restarts{part="nats"} 4',
    "resontech_supervisor_facts_age_seconds 10",
    'resontech_certificate_expiry_timestamp_seconds{certificate="etc/a\\"\\\\\\n.crt"} 5',
    'resontech_disk_free_bytes{holds="logs"} 1',
    "resontech_backup_last_timestamp_seconds 7",
    "resontech_backup_overdue 0",
    "resontech_backup_behind_seconds 2",
  ])
    t.ok(lines.includes(line), line);
  for (const line of lines) {
    const name = line.split(/[{ ]/, 1)[0] ?? "";
    t.ok(text.includes(`# HELP ${name} `), name);
    t.ok(text.includes(`# TYPE ${name} `), name);
  }
  t.match(text, /^process_cpu_user_seconds_total /m);
  t.match(text, /^nodejs_eventloop_lag_seconds /m);
});

t.test("what is gone since the last look has no line any more", async (t) => {
  const now: { health: CoordinatorHealth; facts: ApplianceFacts | null } = { health, facts };
  const none: MetricsSources["uses"] = { members: () => [], nodes: () => [], devices: () => [] };
  const metrics = new Metrics({
    ...{ ...sources, uses: none },
    health: async () => now.health,
    appliance: () => now.facts,
  });
  t.match(await metrics.text(), /node-a/);
  now.health = { ...health, nodes: [] };
  now.facts = null;
  const text = await metrics.text();
  t.notMatch(text, /node-a/);
  t.notMatch(text, /resontech_part_up|resontech_supervisor_facts_age/);
});

t.test(
  "a route is counted by its template, and what is none by no word of the caller",
  async (t) => {
    const metrics = new Metrics(sources);
    metrics.requests.answered("GET", "/api/jobs/:id", 200, 0.01);
    metrics.requests.answered("GET", "/api/jobs/:id", 200, 0.01);
    metrics.requests.answered("PROPFIND", null, 404, 0.01);
    const text = await metrics.text();
    t.match(
      text,
      'resontech_http_requests_total{method="GET",route="/api/jobs/:id",status="200"} 2',
    );
    t.match(text, 'resontech_http_requests_total{method="any",route="none",status="404"} 1');
    t.notMatch(text, /PROPFIND/);
  },
);

t.test("the stages of a submission are told one after another", async (t) => {
  const metrics = new Metrics(sources);
  metrics.submissions.ended("authentication", 0.25);
  const ended = metrics.submissions.clock();
  ended("bucket");
  ended("audit");
  const text = await metrics.text();
  const lineOf = (stage: string, what: string) =>
    new RegExp(`^resontech_submission_stage_seconds_${what}\\{stage="${stage}"\\} (.+)$`, "m").exec(
      text,
    )?.[1];
  t.equal(lineOf("authentication", "sum"), "0.25");
  for (const stage of ["bucket", "audit"]) {
    t.equal(lineOf(stage, "count"), "1");
    t.ok(Number(lineOf(stage, "sum")) < 0.25, `${stage} begins where the one before ended`);
  }
  t.equal(lineOf("commit", "count"), undefined, "what did not happen");
});

t.test("who asks at once shares one look", async (t) => {
  let looks = 0;
  const metrics = new Metrics({
    ...sources,
    health: async () => {
      looks += 1;
      return health;
    },
  });
  await Promise.all([metrics.text(), metrics.text(), metrics.text()]);
  t.equal(looks, 1);
});
