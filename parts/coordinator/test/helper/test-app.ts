import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { FastifyInstance, InjectOptions } from "fastify";
import { pino } from "pino";
import { type AppDeps, buildApp } from "../../src/app.ts";
import { DeploymentWatch } from "../../src/inference/deployment-watch.ts";
import { GatewayReports } from "../../src/inference/gateway-reports.ts";
import { HeardNumbers } from "../../src/inference/heard-numbers.ts";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase, type OpenedDatabase } from "../../src/db/open-database.ts";
import { addUser, type AddedUser } from "../../src/identity/add-user.ts";
import type { RoleChanges } from "../../src/approvals/role-changes.ts";
import type { Approvals } from "../../src/approvals/approvals.ts";
import type { AccountLinks } from "../../src/identity/accounts/account-links.ts";
import type { SignInParts } from "../../src/http/routes/sign-in.ts";
import type { SessionsDeps } from "../../src/identity/sign-in/sessions.ts";
import { AuditSearch } from "../../src/audit/audit-search.ts";
import { BucketKeys } from "../../src/identity/bucket-keys.ts";
import { downloadsIn } from "../../src/http/routes/downloads.ts";
import { DashboardFiles } from "../../src/http/pages/dashboard-files.ts";
import { ownImages } from "../../src/images/own-images.ts";
import { ModelDigests } from "../../src/hub/model-digests.ts";
import { Feed } from "../../src/feed/feed.ts";
import { RegistryPasswords } from "../../src/identity/registry-passwords.ts";
import type { RegistryTokens } from "../../src/identity/registry-tokens.ts";
import { LogSearches } from "../../src/outputs/log-search/log-searches.ts";
import { Metrics, type MetricsSources } from "../../src/metrics/metrics.ts";
import { MetricsTokens } from "../../src/metrics/metrics-tokens.ts";
import { WorkCounter } from "../../src/metrics/work-counts.ts";
import { NodeFiles } from "../../src/nodes/node-files.ts";
import { HostHistory } from "../../src/use/host-history.ts";
import { Runbooks } from "../../src/use/runbooks.ts";
import { UseCurves } from "../../src/use/use-curves.ts";
import { VolumeSync } from "../../src/storage/volume-sync.ts";
import { PlacementSignal } from "../../src/kernel/placement-signal.ts";
import { CalendarTable } from "../../src/kernel/calendar-table.ts";
import { PoolTable } from "../../src/kernel/pool-table.ts";
import { poolParts } from "../../src/pools/pool-parts.ts";
import { ShareTable } from "../../src/kernel/share-table.ts";
import { ShareChanges } from "../../src/shares/share-changes.ts";
import { FakeKernel } from "./fake-kernel.ts";
import { RecordingAudit } from "./recording-audit.ts";
import type { S3Engine } from "./s3-engine.ts";
import { validateSubmission } from "../../src/workloads/validate-submission.ts";

export const TEST_IMAGE: JobImage = {
  profile: "fl-cpu",
  reference: `localhost:5000/resontech/fl-cpu@sha256:${"0".repeat(64)}`,
  sizeBytes: 1,
  packages: {
    torch: "2.15.0",
    nvflare: "2.9.0",
    numpy: "2.3.1",
    "scikit-learn": "1.8.0",
    resontech: "0.3.0",
  },
  pythonVersion: "3.11.2",
};
/** What serves models on processors. */
export const SERVE_IMAGE: JobImage = {
  ...{ profile: "serve-cpu", sizeBytes: 1, pythonVersion: "3.11.2" },
  reference: `localhost:5000/resontech/serve-cpu@sha256:${"1".repeat(64)}`,
  packages: { xllamacpp: "2026.10.11549", numpy: "2.4.6", tokenizers: "0.23.3" },
};

export type IdentityParts = SignInParts & {
  links: AccountLinks;
  approvals: Approvals;
  roleChanges: RoleChanges;
};
type SignInBase = Pick<SessionsDeps, "read" | "commit" | "gate" | "record" | "now"> & {
  shares: ShareChanges;
  kernel: FakeKernel;
  feed: Feed;
  bucketKeys: BucketKeys;
};

export type TestApp = {
  app: FastifyInstance;
  identity: IdentityParts | null;
  database: OpenedDatabase;
  commit: GroupCommit;
  audit: RecordingAudit;
  kernel: FakeKernel;
  bucketKeys: BucketKeys;
  passwords: RegistryPasswords;
  clock: { now: number };
  logLines: string[];
  addUser(username: string): Promise<AddedUser>;
  /** A request with a platform key. */
  call(
    user: AddedUser,
    options: InjectOptions,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Record<string, unknown> }>;
  readonly metrics: Pick<Metrics, "submissions">;
  close(): Promise<void>;
};

/** Without a core there is nobody to say how it does. */
function testMetrics({
  read,
  ...given
}: Pick<MetricsSources, "now" | "workers"> & { read: OpenedDatabase["read"] }): Metrics {
  const counter = new WorkCounter(read);
  return new Metrics({
    ...{ ...given, version: "0.0.0", work: (now) => counter.count(now), appliance: () => null },
    uses: { members: () => [], nodes: () => [], devices: () => [] },
    health: () => Promise.reject(new Error("no health in this test")),
    log: () => Promise.reject(new Error("no log in this test")),
  });
}

/** The real app on a real database and, where given, the real S3 engine. */
export async function makeTestApp(
  dir: string,
  engine: S3Engine,
  overrides: Partial<AppDeps> & { registryTokens?: RegistryTokens } = {},
  signIn?: (deps: SignInBase) => IdentityParts,
): Promise<TestApp> {
  mkdirSync(dir, { recursive: true });
  const database = openDatabase(join(dir, "coordinator.db"));
  const commit = new GroupCommit(database.write);
  const audit = new RecordingAudit();
  const clock = { now: Date.now() };
  const now = () => clock.now;
  const kernel = new FakeKernel(now);
  const feed = new Feed();
  const bucketKeys = new BucketKeys({
    onForgotten: () => {},
    read: database.read,
    commit,
    store: engine.store,
    users: engine.users,
    record: audit.record,
    now,
  });
  const passwords = new RegistryPasswords(now);
  const logLines: string[] = [];
  const { read } = database;
  const shares = new ShareTable(database.write, { now, monotonic: now }, new PlacementSignal());
  const shareChanges = new ShareChanges(commit, shares);
  const signal = new PlacementSignal();
  const steady = { now, monotonic: now };
  const pools = poolParts({
    ...{ read, commit, now, workers: () => kernel.workersStats().workers, shares },
    pools: new PoolTable(database.write, steady, signal),
    calendar: new CalendarTable(database.write, signal),
    ...{ watch: { affected: () => 0 }, uses: () => [] },
  });
  const identity =
    signIn?.({
      ...{ read, commit, gate: audit.gate, record: audit.record },
      ...{ now, kernel, feed, bucketKeys, shares: shareChanges },
    }) ?? null;
  const { endpoint, region, admin: credentials } = engine;
  const ca = engine.caFile === undefined ? "" : readFileSync(engine.caFile, "utf8");
  const logSearches = new LogSearches({ endpoint, region, ca, credentials });
  const modelDigests = new ModelDigests({
    ...{ read, commit, record: audit.record, store: engine.store },
    onError: (error) => logLines.push(String(error)),
  });
  const volume = new VolumeSync(engine.volumePath);
  const metrics = testMetrics({
    read: database.read,
    now,
    workers: () => kernel.workersStats().workers,
  });
  const app = await buildApp({
    gate: audit.gate,
    record: audit.record,
    commit,
    read: database.read,
    now,
    store: engine.store,
    volume,
    bucketKeys,
    ...{ s3: { endpoint, region }, logSearches },
    ...{ kernel, feed, publicUrl: "https://localhost" },
    dashboard: DashboardFiles.none(),
    downloads: downloadsIn(null),
    ...{
      outputExport: "open",
      modelDigests,
      ownImages: ownImages(database.read, "localhost:5000"),
    },
    validate: validateSubmission,
    auditSearch: new AuditSearch(join(dir, "search")),
    images: [TEST_IMAGE],
    nvflareRuns: kernel.nvflareRuns,
    workers: () => kernel.workersStats().workers,
    catalogue: () => kernel.catalogue(),
    watch: new DeploymentWatch(new GatewayReports(), new HeardNumbers(), now),
    deviceUses: () => [],
    queue: {
      of: async () => [],
      holders: async () => [],
      startErrors: async () => null,
      waits: async () => null,
      placed: () => null,
      startOf: async () => null,
    },
    ...{ ...pools, shares, shareChanges },
    useCurves: new UseCurves(read, { range: async () => [] }, now),
    hostHistory: new HostHistory({ range: async () => [] }, () => null, now),
    runbooks: new Runbooks(null),
    fleetDevices: () => ({ models: [], nodes: [] }),
    nodes: {
      list: () =>
        kernel.status().nodes.map((node) => ({
          ...{ ...node, state: "READY" as const, busy: 0, drained: null },
          ...{ silentS: 0, freeBytes: null },
        })),
      find: () => null,
      cordon: () => {},
    },
    joinCommand: async () => null,
    invite: async () => {
      throw new Error("no nodes in this test");
    },
    metrics,
    metricsTokens: new MetricsTokens([]),
    ...{ version: "0.0.0", health: () => Promise.reject(new Error("no health in this test")) },
    join: async () => {
      throw new Error("no nodes in this test");
    },
    nodeFiles: NodeFiles.none(),
    registry: { passwords, tokens: overrides.registryTokens ?? ({} as RegistryTokens) },
    identity,
    hostFacts: () => null,
    approvals: identity?.approvals ?? null,
    keyKind: "dev",
    quotaBytes: 1024 ** 3,
    readiness: { storage: () => engine.store.ping() },
    logger: pino({ level: "info" }, { write: (line: string) => void logLines.push(line) }),
    ...overrides,
  });
  const userDeps = {
    ...{
      read: database.read,
      commit,
      gate: audit.gate,
      record: audit.record,
      store: engine.store,
      bucketKeys,
      now,
    },
    caller: { kind: "operator" as const, person: null },
    ...{ keyKind: "dev" as const, quotaBytes: 10 * 1024 ** 3 },
  };
  return {
    ...{ app, identity, database, commit, audit, kernel, bucketKeys, passwords, clock, logLines },
    addUser: (username) => addUser(userDeps, username),
    metrics,
    async call(user, options) {
      const headers = { authorization: `Bearer ${user.platformKey}`, ...options.headers };
      const reply = await app.inject({ ...options, headers });
      const body = reply.body === "" ? {} : (JSON.parse(reply.body) as Record<string, unknown>);
      return { status: reply.statusCode, body, headers: reply.headers };
    },
    async close() {
      await app.close();
      await volume[Symbol.asyncDispose]();
      await modelDigests[Symbol.asyncDispose]();
      await logSearches[Symbol.asyncDispose]();
      commit.close();
      database[Symbol.dispose]();
    },
  };
}
