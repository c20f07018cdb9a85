/**
 * The coordinator's process: reads its configuration, opens the parts in the order that makes a restart safe, listens, and on a
 * signal takes them down the other way round: HTTP and control first, then bus and timers, then audit and database.
 *
 *     node server.ts --config /etc/…/coordinator.json
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import closeWithGrace from "close-with-grace";
import type { Logger } from "pino";
import manifest from "../package.json" with { type: "json" };
import { buildApp } from "./app.ts";
import { S3_FRONT } from "./authorization/caller.ts";
import { policiesInForce } from "./authorization/policies-in-force.ts";
import { LogSearches } from "./outputs/log-search/log-searches.ts";
import { buildControlApp } from "./control-app.ts";
import { UserViews } from "./control/user-views.ts";
import { answerFront } from "./front/answer-front.ts";
import { ModelDigests } from "./hub/model-digests.ts";
import { ownImages } from "./images/own-images.ts";
import { DeploymentTable } from "./inference/deployment-table.ts";
import type { Socket } from "node:net";
import { CallerKeys } from "./inference/caller-keys.ts";
import { keepUsage } from "./inference/call-usage.ts";
import { DeploymentWatch } from "./inference/deployment-watch.ts";
import { HeardNumbers } from "./inference/heard-numbers.ts";
import { GatewayReports } from "./inference/gateway-reports.ts";
import { ReplicaDevices } from "./inference/replica-devices.ts";
import { Rollouts } from "./inference/rollouts.ts";
import { Scaler } from "./inference/scaler.ts";
import { RoutesServer } from "./inference/routes-server.ts";
import { FrontServer } from "./front/front-server.ts";
import { listenOnSocket } from "./http/listen-on-socket.ts";
import { makeLogger } from "./http/logger.ts";
import { downloadsIn } from "./http/routes/downloads.ts";
import { DashboardFiles } from "./http/pages/dashboard-files.ts";
import type { ReadinessChecks } from "./http/routes/health.ts";
import { AuditSearch } from "./audit/audit-search.ts";
import { BucketKeys } from "./identity/bucket-keys.ts";
import { RegistryPasswords } from "./identity/registry-passwords.ts";
import { RegistryTokens } from "./identity/registry-tokens.ts";
import { RightsRefresh } from "./identity/rights-refresh.ts";
import type { KernelAlarms } from "./compose/build-kernel.ts";
import { type Core, openCore } from "./compose/open-core.ts";
import { FindingsWatch } from "./compose/findings-watch.ts";
import { openIdentity } from "./compose/open-identity.ts";
import { joinCommandFor } from "./nodes/join-command-for.ts";
import { DeviceHolders } from "./metrics/device-holders.ts";
import { Metrics } from "./metrics/metrics.ts";
import { MetricsTokens } from "./metrics/metrics-tokens.ts";
import { readApplianceFacts } from "./metrics/read-appliance-facts.ts";
import { WorkCounter } from "./metrics/work-counts.ts";
import { NodeFiles } from "./nodes/node-files.ts";
import { NodeViews } from "./nodes/node-views.ts";
import { readConfig, readSecrets, readText, type Secrets } from "./read-config.ts";
import { ScheduleRuns } from "./schedules/schedule-runs.ts";
import { poolParts } from "./pools/pool-parts.ts";
import { ShareChanges } from "./shares/share-changes.ts";
import { type ObjectStore, S3ObjectStore } from "./storage/object-store.ts";
import { S3Transport } from "./storage/s3-transport.ts";
import { S3Users } from "./storage/s3-users.ts";
import { VolumeSync } from "./storage/volume-sync.ts";
import { NvflareRuns } from "./workloads/federation/nvflare-runs.ts";
import { HostHistory } from "./use/host-history.ts";
import { Runbooks } from "./use/runbooks.ts";
import { PrometheusReader } from "./use/prometheus-reader.ts";
import { UseCurves } from "./use/use-curves.ts";
import { validateSubmission } from "./workloads/validate-submission.ts";

/** What the object store did not hear of while it was away is told to it so often. */
const PAIR_SWEEP_MS = 30_000;
/** Longest orderly stop; what is left then is ended by the exit, and finished by the next start. */
const STOP_MS = 15_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { config: { type: "string" } } });
  if (values.config === undefined) throw new TypeError("usage: server --config FILE");
  const config = readConfig(values.config);
  const logger = makeLogger(config.logLevel);
  const parts = await openParts(config, readSecrets(config), logger);
  closeWithGrace({ delay: STOP_MS, logger }, async ({ signal, err }) => {
    if (err !== undefined) logger.fatal({ err }, "stopping after an error");
    else logger.info({ signal }, "stopping");
    await parts[Symbol.asyncDispose]();
  });
  logger.info(
    {
      ...{ address: config.publicUrl, version: manifest.version },
      policySet: policiesInForce().sha256,
    },
    "listening",
  );
}

async function openParts(
  config: CoordinatorConfig,
  secrets: Secrets,
  logger: Logger,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const { endpoint, region, caFile, volumePath, bucketQuotaBytes } = config.s3;
  const transport = stack.use(
    new S3Transport({ endpoint, region, ca: readText(caFile), credentials: secrets.s3Admin }),
  );
  const store = new S3ObjectStore(transport);
  const volume = stack.use(new VolumeSync(volumePath));
  const now = () => Date.now();
  const passwords = new RegistryPasswords(now);
  let front: FrontServer | null = null;
  const core = stack.use(
    await openCore({
      ...{ config, version: manifest.version, store, volume, passwords, alarms: alarmsOf(logger) },
      serveFront: async (read) => {
        const answer = answerFront({
          caller: S3_FRONT,
          read,
          now,
          store,
          adminAccessKeyId: secrets.s3Admin.accessKeyId,
        });
        front = await FrontServer.listen(config.frontSocket, answer, logger);
        return front;
      },
    }),
  );
  const { read, commit, gate, record, kernel, joinTokens } = core;
  const table = new DeploymentTable(read);
  const reports = new GatewayReports<Socket>();
  const numbers = new HeardNumbers<Socket>();
  const watch = new DeploymentWatch(reports, numbers, now);
  const deviceUses = () => core.nodeHealth().flatMap(({ devices = [] }) => devices);
  if (config.inference !== undefined) {
    const callers = new CallerKeys(read);
    const devices = new ReplicaDevices(read, deviceUses);
    let routes: RoutesServer | null = null;
    const scaler = stack.use(
      new Scaler({
        ...{ commit, table, now, replicas: core.replicas },
        rollouts: new Rollouts(read, table),
        load: (deployment) =>
          watch.load(deployment, () =>
            table.of(deployment)?.scaling.targetDeviceUse === undefined
              ? null
              : devices.meanUse(deployment),
          ),
        onChange: () => routes?.tell(),
        onError: (err) => logger.error({ err }, "the number of a deployment's replicas"),
      }),
    );
    routes = stack.use(
      await RoutesServer.listen(config.inference.routesSocket, {
        ...{ routes: () => table.routes(), keys: () => callers.all(now()), reports, numbers },
        ...{ onUsage: (rows) => keepUsage(commit, rows), now, logger },
        onReport: () => scaler.kick(),
      }),
    );
    scaler.run();
  }
  const modelDigests = stack.use(
    new ModelDigests({
      ...{ read, commit, record, store },
      onError: (err) => logger.warn({ err }, "a model of the hub could not be read"),
    }),
  );
  const users = new S3Users(transport);
  const bucketKeys = new BucketKeys({
    ...{ read, commit, record, store, users, now },
    onForgotten: (accessKeyIds) => front?.forget(accessKeyIds),
  });
  await bucketKeys.sweep();
  const sweep = setInterval(() => {
    bucketKeys
      .sweep()
      .catch((err: unknown) => logger.warn({ err }, "key pairs of buckets were not swept"));
  }, PAIR_SWEEP_MS);
  stack.defer(() => clearInterval(sweep));
  stack.use(new RightsRefresh(bucketKeys, logger));

  const shareChanges = new ShareChanges(commit, core.shares);
  const identity = await openIdentity(
    config,
    {
      ...{ read, commit, gate, record, now, kernel, feed: core.feed, bucketKeys },
      ...{ shares: shareChanges, queue: core.queue },
    },
    logger,
  );
  if (identity !== null) stack.use(identity);
  stack.use(
    new FindingsWatch({
      ...{ feed: core.feed, health: () => core.health(), now },
      jobs: () => kernel.status().jobs,
      onError: (err) => logger.warn({ err }, "how the appliance does could not be told"),
    }),
  );
  const logSearches = stack.use(
    new LogSearches({ endpoint, region, ca: readText(caFile), credentials: secrets.s3Admin }),
  );
  const work = new WorkCounter(read);
  const hostFacts = () =>
    config.metrics === undefined ? null : readApplianceFacts(config.metrics.factsFile);
  const holders = new DeviceHolders(read);
  const prometheus = new PrometheusReader(config.prometheus);
  const metrics = new Metrics({
    ...{ version: manifest.version, now, health: () => core.health(), log: () => gate.status() },
    work: (at) => work.count(at),
    workers: () => kernel.workersStats().workers,
    uses: {
      members: () => core.uses.members(),
      nodes: () => core.uses.nodes(),
      devices: () => holders.all(),
    },
    inference: () => table.facts(watch),
    appliance: hostFacts,
  });
  const nodeViews = new NodeViews(read, () => core.nodeHealth());
  const nodeFiles =
    config.releaseDir === undefined
      ? NodeFiles.none()
      : NodeFiles.ofRelease(config.releaseDir, config.ca.trustFile ?? config.ca.rootCertFile);
  const nodes = {
    list: () => nodeViews.list(),
    find: (node: string) => nodeViews.find(node),
    cordon: (node: string, reason: string | null) => core.cordon(node, reason),
  };
  const scheduleRuns = stack.use(
    new ScheduleRuns({
      ...{ read, commit, gate, record, now, store, volume, kernel, metrics },
      ...{ validate: validateSubmission, images: config.images },
      workers: () => kernel.workersStats().workers,
      catalogue: () => kernel.catalogue(),
      onError: (err) => logger.warn({ err }, "the run of a schedule is tried again"),
    }),
  );
  const pools = poolParts({
    ...{ read, commit, pools: core.pools, calendar: core.calendar, now },
    ...{ watch: core.calendarWatch, workers: () => kernel.workersStats().workers },
    ...{ shares: core.shares, uses: () => core.uses.nodes() },
  });
  const app = await buildApp({
    identity,
    metrics,
    hostFacts,
    metricsTokens: new MetricsTokens(config.metrics?.tokenFiles ?? []),
    nodes,
    fleetDevices: () => nodeViews.devices(),
    invite: (node, ttlS) => joinTokens.make(node, ttlS),
    joinCommand: (node) => joinCommandFor(node, config, nodeFiles),
    ...{ version: manifest.version, health: () => core.health() },
    approvals: identity?.approvals ?? null,
    ...{ gate, record, commit, read, now, store, volume, bucketKeys, kernel, logger },
    nvflareRuns: new NvflareRuns(read),
    ...{ feed: core.feed, publicUrl: config.publicUrl, logSearches },
    dashboard:
      config.dashboardDir === undefined
        ? DashboardFiles.none()
        : DashboardFiles.load(config.dashboardDir),
    downloads: downloadsIn(config.downloadsDir ?? null),
    outputExport: config.s3.outputExport ?? "open",
    modelDigests,
    ownImages: ownImages(read, config.registry.host),
    validate: validateSubmission,
    s3: { endpoint, region },
    keyKind: config.keyKind,
    quotaBytes: bucketQuotaBytes,
    auditSearch: new AuditSearch(config.audit.searchSocket),
    images: config.images,
    workers: () => kernel.workersStats().workers,
    catalogue: () => kernel.catalogue(),
    watch,
    ...{ deviceUses, queue: core.queue, shares: core.shares, shareChanges },
    ...pools,
    useCurves: new UseCurves(read, prometheus, now),
    hostHistory: new HostHistory(prometheus, hostFacts, now),
    runbooks: new Runbooks(
      config.releaseDir === undefined ? null : join(config.releaseDir, "app", "runbooks"),
    ),
    join: (request, source) => joinTokens.join(request, source),
    nodeFiles,
    registry: {
      passwords,
      tokens: new RegistryTokens({
        service: config.registry.service,
        ...secrets.registryToken,
        now,
      }),
    },
    readiness: readinessOf(core, store),
  });
  stack.defer(() => app.close());
  const control = await buildControlApp({
    ...{ read, commit, gate, record, store, bucketKeys, now, kernel, passwords, logger },
    ...{ users: new UserViews(read, now), nodes, removal: core.removal, upgrades: core.upgrades },
    ...{ ...pools, shares: core.shares, version: manifest.version },
    ...{ planReplays: core.planReplays, planRecorder: core.planRecorder },
    people: identity,
    approvals: identity?.approvals ?? null,
    keyKind: config.keyKind,
    quotaBytes: bucketQuotaBytes,
    invite: (node, ttlS) => joinTokens.make(node, ttlS),
    maintain: (forS) => core.maintain(forS),
    health: () => core.health(),
  });
  stack.defer(() => control.close());
  // Health is asked at the API: whoever finds it healthy reaches root's socket too.
  await listenOnSocket(control, config.controlSocket, "owner");
  await listenOnSocket(app, config.listen.socket);
  scheduleRuns.run();
  return stack.move();
}

function readinessOf(core: Core, store: ObjectStore): ReadinessChecks {
  const demand = (isReady: boolean) =>
    isReady ? Promise.resolve() : Promise.reject(new Error("not ready"));
  return {
    storage: () => store.ping(),
    audit: () => demand(core.isReady().audit),
    bus: () => demand(core.isReady().bus),
    database: () => demand(core.commit.isWritable),
  };
}

function alarmsOf(logger: Logger): KernelAlarms {
  return {
    onError: (err, what) => logger.error({ err, what }, "background work failed"),
    onBrake: (brake) => logger.warn({ brake }, "nodes are silent, but none is declared dead"),
    onNodeDead: (node) => logger.warn({ node }, "node is dead; its members are fenced"),
    onQuarantine: (member, workers) =>
      logger.error(
        { member, workers },
        "release is not proven; look at the node, then let it join again",
      ),
    onClockStep: (stepMs) =>
      logger.warn({ stepMs }, "the wall clock was set; deadlines have moved along"),
    onAuditRejected: (err, pseq) => logger.error({ err, pseq }, "auditd refused a record"),
    onAuditHalted: (err, pseq) =>
      logger.fatal({ err, pseq }, "the audit log has no place for a record: no new work is taken"),
  };
}

try {
  await main();
} catch (error) {
  makeLogger("info").fatal({ err: error }, "the coordinator does not start");
  process.exitCode = 1;
}
