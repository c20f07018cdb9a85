/**
 * Opens the kernel and everything that it works with: database, both audit producers, bus, certificates, outputs. The order is what
 * makes a restart safe: the generation is settled and logged before anything listens; what a crash left half done is finished or
 * taken back before an agent can ask; timers come from rows.
 */
import { randomUUID } from "node:crypto";
import {
  type AuditProducer,
  connectProducer,
  connectRecordProducer,
  type LeafRef,
} from "@resontech/audit/producer";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import type { CoordinatorHealth, NodeHealth } from "@resontech/contracts/coordinator-health";
import { SharedRun } from "@resontech/frame/shared-run";
import type { NatsConnection } from "@nats-io/transport-node";
import { beginGeneration } from "../audit/begin-generation.ts";
import { closeOpenOperations } from "../audit/close-open-operations.ts";
import { recordBoot } from "../audit/record-outbox.ts";
import type { RecordEvent } from "../audit-ports.ts";
import { agentHandlers } from "../bus/agent-handlers.ts";
import { AgentRequests } from "../bus/agent-requests.ts";
import { serveAuthCallout } from "../bus/auth-callout.ts";
import { connectBus, readSeed } from "../bus/connect.ts";
import { BusLink } from "../bus/bus-link.ts";
import { giveHint, HintPump } from "../bus/hint-pump.ts";
import { ChangedPolicies } from "../policy-trial/changed-policies.ts";
import { policiesInForce } from "../authorization/policies-in-force.ts";
import { recentDecisions } from "../authorization/recent-decisions.ts";
import { DecisionHistory } from "../policy-trial/decision-history.ts";
import { GroupCommit } from "../db/group-commit.ts";
import { openDatabase, type ReadHandle, type WriteHandle } from "../db/open-database.ts";
import { WriteAheadLog } from "../db/write-ahead-log.ts";
import type { Feed } from "../feed/feed.ts";
import { holdersOf } from "../identity/role-holders.ts";
import { openRequests } from "../identity/directories/request-role.ts";
import { endingKeys } from "../identity/key-store.ts";
import { standingRestored } from "../identity/restored-administrators.ts";
import {
  endingAccounts,
  orphanedAccounts,
} from "../identity/service-accounts/service-account-store.ts";
import { groupsThatGiveNothing, peopleWhoLeft } from "../identity/people-store.ts";
import type { RegistryPasswords } from "../identity/registry-passwords.ts";
import { AttemptSigning } from "../nodes/attempt-signing.ts";
import { CertificateAuthority } from "../nodes/certificate-authority.ts";
import { DoorTrust } from "../nodes/door-trust.ts";
import { givenRelease } from "../nodes/given-release.ts";
import { JoinTokens } from "../nodes/join-tokens.ts";
import { type MaintenanceReply, planStop } from "../nodes/maintenance.ts";
import type { QueueViews } from "../kernel/queue-views.ts";
import type { CalendarTable } from "../kernel/calendar-table.ts";
import type { CalendarWatch } from "../kernel/calendar-watch.ts";
import type { PoolTable } from "../kernel/pool-table.ts";
import type { ShareTable } from "../kernel/share-table.ts";
import type { NodeRemoval } from "../nodes/node-removal.ts";
import { NodeRenewals } from "../nodes/node-renewals.ts";
import type { NodeUpgrades } from "../nodes/node-upgrades.ts";
import { OutputUploads } from "../outputs/output-uploads.ts";
import { poolStanding } from "../pools/pool-standing.ts";
import { OwnHealth } from "./own-health.ts";
import { LastModelCopies } from "../outputs/last-model-copies.ts";
import { LogMerges } from "../outputs/log-merges.ts";
import { StorePump } from "../outputs/store-pump.ts";
import { InputStaging } from "../outputs/stage-inputs.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { VersionCollector } from "../storage/version-collector.ts";
import type { VolumeSync } from "../storage/volume-sync.ts";
import { WORKLOADS } from "../workloads/workloads.ts";
import {
  buildKernel,
  type KernelAlarms,
  type KernelParts,
  voidOlderGenerations,
} from "./build-kernel.ts";
import { SteadyClock } from "../kernel/clock.ts";
import { ClockSteps, readBootTime } from "../kernel/clock-steps.ts";
import { followRegistry } from "../kernel/follow-registry.ts";
import { PlanFiles } from "../kernel/plan-files.ts";
import { PlanRecorder } from "../kernel/plan-recorder.ts";
import { PlanReplays } from "../kernel/plan-replays.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { ToldUses } from "../kernel/told-uses.ts";
import type { Replicas } from "../inference/replicas.ts";

const SWEEP_MS = 1_000;
/** Whatever was missed is found again this often. */
const COMPARE_MS = 30_000;
/** Longest wait at the end for records to be acknowledged; what is left is sent by the next start. */
const DRAIN_MS = 2_000;

export type CoreOptions = {
  config: CoordinatorConfig;
  version: string;
  store: ObjectStore;
  volume: Pick<VolumeSync, "durable">;
  passwords: RegistryPasswords;
  alarms: KernelAlarms;
  clock?: SteadyClock;
  /** Called as soon as there are rows to answer from: the S3 front asks about the first request that this start sends to the object store. */
  serveFront?: (read: ReadHandle) => Promise<AsyncDisposable>;
};

/** What routes and the control socket work with. */
export type Core = AsyncDisposable & {
  kernel: Kernel;
  db: WriteHandle;
  read: ReadHandle;
  commit: GroupCommit;
  /** What changes, for whoever may see it: see feed/README.md. */
  feed: Pick<Feed, "subscribe" | "position" | "publish" | "hasReaders">;
  gate: AuditProducer;
  record: RecordEvent;
  joinTokens: JoinTokens;
  /** Takes a node out of placement for a reason, or back for null. Inside a commit. */
  cordon(node: string, reason: string | null): void;
  /** Takes a node's work away, or the node out of the register. Inside a commit. */
  removal: Pick<NodeRemoval, "evict" | "remove">;
  shares: ShareTable;
  pools: PoolTable;
  calendar: CalendarTable;
  calendarWatch: Pick<CalendarWatch, "affected">;
  queue: QueueViews;
  planReplays: PlanReplays;
  planRecorder: Pick<PlanRecorder, "state">;
  upgrades: Pick<NodeUpgrades, "plan" | "replaceOrders" | "note" | "facts">;
  /** For whoever decides how many replicas a deployment has. */
  replicas: Replicas;
  nodeHealth(): NodeHealth[];
  /** What nodes and members use now. */
  uses: Pick<ToldUses, "members" | "nodes">;
  /** See {@link planStop}. */
  maintain(forS: number): Promise<MaintenanceReply>;
  health(): Promise<CoordinatorHealth>;
  /** False while the bus or the audit log is away, or the log does not take records. */
  isReady(): { bus: boolean; audit: boolean };
  generation: number;
};

/** @throws PolicySetInvalid, DatabaseTooNew, AuditUnavailable, and whatever keeps a file from being read */
export async function openCore(options: CoreOptions): Promise<Core> {
  const { config, alarms, clock = new SteadyClock() } = options;
  // Before anything is opened: with policies that don't hold together nothing could be decided. And no beat waits until they are read.
  ChangedPolicies.besideDatabase(config.databaseFile).use();
  policiesInForce();
  await using stack = new AsyncDisposableStack();
  const opened = stack.use(openDatabase(config.databaseFile));
  const { write: db, read } = opened;
  const commit = new GroupCommit(db);
  stack.defer(() => commit.close());
  stack.use(new WriteAheadLog(db, commit, (error) => alarms.onError(error, "the write-ahead log")));
  if (options.serveFront !== undefined) stack.use(await options.serveFront(read));
  const health = stack.use(new OwnHealth());
  const planFiles = PlanFiles.besideDatabase(config.databaseFile);
  const planRecorder = new PlanRecorder({
    ...{ files: planFiles, release: options.version, monotonic: () => clock.monotonic() },
    onError: (error) => alarms.onError(error, "records of plans"),
  });
  stack.defer(() => planRecorder.close());
  const parts = buildKernel({
    planRecorder,
    db,
    commit,
    clock,
    workloads: WORKLOADS,
    gateway:
      config.inference === undefined
        ? null
        : { node: "serving", certificateSha256: config.inference.gatewayCertificateSha256 },
    doorTrust: new DoorTrust(config.ca.trustFile ?? null),
    release: config.releaseDir === undefined ? null : givenRelease(config.releaseDir),
    hangAfterMs:
      config.hangAfterMinutes === undefined ? undefined : config.hangAfterMinutes * 60_000,
    alarms: { ...alarms, onBrake: both(alarms.onBrake, (brake) => health.noteBrake(brake)) },
  });
  stack.use(parts.feed);
  await commit.run(() => followRegistry(db, parts.tables.meta, config.registry.host));
  const onStep = both(alarms.onClockStep, (stepMs) => health.noteClockStep(stepMs));
  const clockSteps = new ClockSteps({ ...parts, clock, bootTime: readBootTime, onStep });
  await clockSteps.begin();
  await parts.sweeper.giveGrace();
  await parts.sweeper.reconcileAll();
  const authority = await CertificateAuthority.load(config.ca);

  const gate = stack.use(
    await connectProducer({ socketPath: config.audit.gateSocket, boot: randomUUID() }),
  );
  const generation = await beginGeneration({ ...parts, gate }, options.version, () =>
    voidOlderGenerations(parts),
  );
  // Before rows flow: an outcome whose row is gone by the time of the look would be told twice.
  await closeOpenOperations({ ...parts, gate, records: parts.recordOutbox });
  await attachRecords(parts, config.audit.recordSocket, generation, stack);

  const uploads = new OutputUploads({
    ...parts,
    gate,
    store: options.store,
    volume: options.volume,
  });
  await uploads.recover();
  const renewals = new NodeRenewals({
    ...{ db, commit, gate, authority, nodes: parts.nodes },
    desiredChanged: (node) => parts.tables.commands.desiredChanged(node),
    onError: (error) => alarms.onError(error, "the next certificate of a node"),
  });
  const { connection: bus, link } = await openBus(
    options,
    parts,
    { gate, renewals, uploads },
    stack,
  );
  stack.defer(() => uploads.close());
  const collector = new VersionCollector({
    ...{ db, commit, gate, store: options.store, now: () => clock.now() },
    record: (_db, draft, disclosures) => parts.recordOutbox.write(draft, disclosures),
    onError: (error) => alarms.onError(error, "old versions"),
  });
  const timers = startTimers(options, parts, bus, { clockSteps, collector, gate });
  stack.defer(() => timers[Symbol.asyncDispose]());

  stack.use(
    new DecisionHistory({
      ...{ commit, recent: recentDecisions, now: () => clock.now() },
      onError: (error) => alarms.onError(error, "the week's decisions"),
    }),
  );
  const joinTokens = new JoinTokens({
    ...{ db, commit, clock, gate, records: parts.records, nodes: parts.nodes, authority, renewals },
    ...{ natsUrl: config.natsPublicUrl, registry: config.registry.host },
  });
  const owned = stack.move();
  return {
    kernel: parts.kernel,
    ...{ db, read, commit, gate, joinTokens, generation, feed: parts.feed },
    record: (_db, draft, disclosures) => parts.recordOutbox.write(draft, disclosures),
    cordon: (node, reason) => {
      parts.nodes.setCordon(node, reason);
      // Its agent hears of it with the next beat: devices in quarantine are looked at anew.
      if (reason === null) parts.tables.meta.next(`undrains:${node}`);
    },
    ...{ removal: parts.removal, shares: parts.shares, queue: parts.queue },
    ...{ planRecorder, planReplays: new PlanReplays(planFiles) },
    ...{ pools: parts.pools, calendar: parts.calendar, calendarWatch: parts.calendarWatch },
    upgrades: parts.upgrades,
    replicas: parts.replicas,
    nodeHealth: () => parts.fleetViews.nodeHealth(),
    uses: parts.toldUses,
    maintain: (forS) =>
      planStop(parts, forS, () => {
        for (const { id } of parts.nodes.registered()) giveHint(bus, id, { about: "beat" });
      }),
    health: () =>
      health.tell({
        ...parts,
        gate,
        isBusUp: () => link.isUp,
        isAuditConnected: () => gate.connected,
        isAuditDraining: () => gate.draining,
        pingStorage: () => options.store.ping(),
        planRecords: () => planRecorder.state,
        endingKeys: () => endingKeys(db, clock.now()),
        endingAccounts: () => endingAccounts(db, clock.now()),
        hasApprover: () => holdersOf(read, "security-officer").length > 0,
        orphanedAccounts: () => orphanedAccounts(db, clock.now()),
        poolStanding: () =>
          poolStanding({ ...parts, workers: () => parts.fleetViews.workers().workers }),
        people: () => ({
          ...{ requested: openRequests(db), left: peopleWhoLeft(db) },
          givenNothing: groupsThatGiveNothing(db),
          restored: standingRestored(db).map(({ restoredAt, ...person }) => ({
            ...person,
            restoredAt: new Date(restoredAt).toISOString(),
          })),
        }),
      }),
    isReady: () => ({
      bus: link.isUp,
      audit: gate.connected && !gate.draining && !parts.recordPump.isHalted,
    }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function both<T>(first: (value: T) => void, second: (value: T) => void): (value: T) => void {
  return (value) => {
    first(value);
    second(value);
  };
}

async function attachRecords(
  { meta, db, recordPump, commit }: KernelParts,
  socketPath: string,
  generation: number,
  stack: AsyncDisposableStack,
): Promise<void> {
  const pending =
    db.prepare<[], number | null>("SELECT min(pseq) FROM audit_outbox").pluck().get() ?? null;
  const highestAck = JSON.parse(meta.text("record-ack") ?? "null") as LeafRef | null;
  const producer = stack.use(
    await connectRecordProducer({
      socketPath,
      boot: recordBoot(generation),
      firstPseq: pending ?? meta.number("record-pseq") + 1,
      ...(highestAck === null ? {} : { highestAck }),
    }),
  );
  recordPump.attach(producer);
  const kick = () => recordPump.kick();
  commit.listeners.add(kick);
  stack.defer(() => recordPump.drained(AbortSignal.timeout(DRAIN_MS)));
}

async function openBus(
  { config, store, passwords, alarms }: CoreOptions,
  parts: KernelParts,
  {
    gate,
    renewals,
    uploads,
  }: { gate: AuditProducer; renewals: NodeRenewals; uploads: OutputUploads },
  stack: AsyncDisposableStack,
): Promise<{ connection: NatsConnection; link: BusLink }> {
  const connection = await connectBus(config.nats);
  stack.defer(() => connection.close());
  const link = new BusLink(connection);
  serveAuthCallout({
    connection,
    accountSeed: readSeed(config.nats.accountSeedFile),
    account: config.nats.account,
    admit: (leaf) => renewals.admit(leaf),
    onError: (error) => alarms.onError(error, "auth callout"),
  });
  const handlers = agentHandlers({
    ...{ ...parts, gate },
    signing: new AttemptSigning({ ...parts, gate }),
    renewals,
    staging: new InputStaging({ ...parts, gate, store }),
    uploads,
    passwords,
    images: config.images,
  });
  const onError = (error: unknown, node: string, verb: string) =>
    alarms.onError(error, `agent request ${verb} of ${node}`);
  stack.use(new AgentRequests({ connection, handlers, onError }));
  await connection.flush();
  return { connection, link };
}

/** Everything that happens by itself. Disposing waits for what is under way. */
function startTimers(
  { store, alarms, volume }: CoreOptions,
  parts: KernelParts,
  bus: NatsConnection,
  {
    clockSteps,
    collector,
    gate,
  }: { clockSteps: ClockSteps; collector: VersionCollector; gate: AuditProducer },
): AsyncDisposable {
  const {
    calendarWatch,
    clock,
    commit,
    commands,
    hangWatch,
    idleWatch,
    outputs,
    sweeper,
    scheduler,
    liveness,
    prospectReview,
    tables,
    recordPump,
  } = parts;
  const abort = new AbortController();
  const hints = new HintPump({
    commit,
    commands,
    connection: bus,
    onError: (error) => alarms.onError(error, "hints"),
  });
  const onStoreError = (error: unknown) => alarms.onError(error, "the object store");
  const inStore = new StorePump({
    ...{ commit, commands, outputs, store, now: () => clock.now() },
    lastModels: new LastModelCopies({
      ...{ commit, tables: parts.tables, gate, store, volume },
      onError: onStoreError,
    }),
    logMerges: new LogMerges({
      ...{ commit, tables: parts.tables, store, volume },
      onError: onStoreError,
    }),
    onError: onStoreError,
  });
  const pump = () => {
    hints.kick();
    scheduler.kick();
  };
  commit.listeners.add(pump);
  const sweeps = new SharedRun();
  const sweep = setInterval(() => {
    inStore.kick();
    recordPump.kick();
    parts.endFollower.resume();
    pump();
    void sweeps.run(() =>
      sweeper
        .sweep()
        .then(() => hangWatch.look())
        .then(() => calendarWatch.look())
        .then(() => idleWatch.look())
        .catch((error: unknown) => alarms.onError(error, "deadlines")),
    );
  }, SWEEP_MS);
  const reviews = new SharedRun();
  const compare = setInterval(() => {
    tables.placementSignal.raise("comparison");
    scheduler.kick();
    void reviews.run(() =>
      prospectReview
        .look()
        .catch((error: unknown) => alarms.onError(error, "jobs that can never start")),
    );
  }, COMPARE_MS);
  liveness.run(abort.signal, (error) => alarms.onError(error, "liveness"));
  collector.run(abort.signal);
  clockSteps.run(abort.signal, (error) => alarms.onError(error, "clock"));
  pump();
  inStore.kick();
  return {
    async [Symbol.asyncDispose]() {
      abort.abort();
      clearInterval(sweep);
      clearInterval(compare);
      commit.listeners.delete(pump);
      await Promise.all([sweeps.idle(), reviews.idle(), parts.endFollower.stop()]);
      await Promise.all([collector.idle(), hints.idle(), inStore.idle(), scheduler.idle()]);
    },
  };
}
