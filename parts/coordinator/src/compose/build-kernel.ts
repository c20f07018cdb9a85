import type { BridgePeer } from "@resontech/contracts/agent-protocol";
import { KernelRecords } from "../kernel/kernel-records.ts";
import { RecordOutbox } from "../audit/record-outbox.ts";
import { RecordPump } from "../audit/record-pump.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import { Meta } from "../db/meta.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { CommittedChanges } from "../feed/committed-changes.ts";
import { Feed } from "../feed/feed.ts";
import { Heartbeats } from "../kernel/heartbeats.ts";
import { DoorTrust } from "../nodes/door-trust.ts";
import { LivenessMonitor } from "../nodes/liveness-monitor.ts";
import { longestLeaseMs } from "../nodes/maintenance.ts";
import { NodeRemoval } from "../nodes/node-removal.ts";
import { NodeTable } from "../nodes/node-table.ts";
import { NodeUpgrades } from "../nodes/node-upgrades.ts";
import { RecentJobs } from "../kernel/recent-jobs.ts";
import { Registry } from "../nodes/registry.ts";
import { OutputTable } from "../kernel/output-table.ts";
import { Placements } from "../kernel/apply-placement.ts";
import { LastModelTable } from "../kernel/last-model-table.ts";
import { LogMergeTable } from "../kernel/log-merge-table.ts";
import { CheckpointTable } from "../kernel/checkpoint-table.ts";
import type { Clock } from "../kernel/clock.ts";
import { CommandOutbox } from "../kernel/command-outbox.ts";
import { CurveTable } from "../kernel/curve-table.ts";
import { DeviceUses } from "../kernel/device-uses.ts";
import { ToldUses } from "../kernel/told-uses.ts";
import { DesiredSets } from "../kernel/desired-set.ts";
import { ArrayTable } from "../kernel/array-table.ts";
import { EndFollower } from "../kernel/end-follower.ts";
import { FleetViews } from "../kernel/fleet-views.ts";
import { HangWatch } from "../kernel/hang-watch.ts";
import { IdleWatch } from "../kernel/idle-watch.ts";
import { JobBridges } from "../kernel/job-bridges.ts";
import { JobTable } from "../kernel/job-table.ts";
import { JobViews } from "../kernel/job-views.ts";
import { OrderTable } from "../kernel/order-table.ts";
import { MemberTable } from "../kernel/member-table.ts";
import { PersonQueues } from "../kernel/person-queues.ts";
import { PlacementOutlook } from "../kernel/placement-outlook.ts";
import { NodeStandings } from "../kernel/node-standings.ts";
import { PlacementScores } from "../kernel/placement-scores.ts";
import { PlacementSnapshots } from "../kernel/placement-snapshots.ts";
import { PreemptionTable } from "../kernel/preemption-table.ts";
import { Preemptions } from "../kernel/preemptions.ts";
import { ProspectReview } from "../kernel/prospect-review.ts";
import { Prospects } from "../kernel/prospects.ts";
import { QueueViews } from "../kernel/queue-views.ts";
import { CalendarTable } from "../kernel/calendar-table.ts";
import { CalendarWatch } from "../kernel/calendar-watch.ts";
import { NodeGates } from "../kernel/node-gates.ts";
import { PoolTable } from "../kernel/pool-table.ts";
import { ShareTable } from "../kernel/share-table.ts";
import { SharingSnapshots } from "../kernel/sharing-snapshots.ts";
import { PlacementSignal } from "../kernel/placement-signal.ts";
import { Replicas } from "../inference/replicas.ts";
import { Replacements } from "../kernel/replace-member.ts";
import type { PlanRecorder } from "../kernel/plan-recorder.ts";
import { Scheduler } from "../kernel/scheduler.ts";
import { Kernel } from "../kernel/kernel.ts";
import { Submissions } from "../kernel/submit.ts";
import { Sweeper } from "../kernel/sweeper.ts";
import { Reports } from "../kernel/take-reports.ts";
import { ToldStarts } from "../kernel/told-starts.ts";
import { Transitions } from "../kernel/transitions.ts";
import type { Workloads } from "../kernel/workload.ts";
import { WarningTable } from "../kernel/warning-table.ts";

/** What goes wrong beside any caller; each is told once, here. */
export type KernelAlarms = {
  onError: (error: unknown, what: string) => void;
  onBrake: (brake: string) => void;
  onNodeDead: (node: string) => void;
  onQuarantine: (member: string, workers: readonly string[]) => void;
  /** The wall clock was set, or the host slept: deadlines have moved along by so many milliseconds. */
  onClockStep: (stepMs: number) => void;
  /** A record stands in the log as refused: a fault of ours that lost its text. */
  onAuditRejected: (error: Error, pseq: number) => void;
  /** Records wait from this one on, and nothing new starts. */
  onAuditHalted: (error: unknown, pseq: number) => void;
};

export type KernelOptions = {
  /** Who reaches leads from beside the coordinator; absent: nobody does. */
  gateway?: BridgePeer | null | undefined;
  db: WriteHandle;
  commit: GroupCommit;
  clock: Clock;
  alarms: KernelAlarms;
  workloads: Workloads;
  /** Who vouches for the appliance's doors; absent: its root alone. */
  doorTrust?: DoorTrust | undefined;
  /** What nodes are given; absent: nothing. */
  release?: string | null | undefined;
  /** Absent: plans are not recorded. */
  planRecorder?: PlanRecorder | undefined;
  /** @default HANG_AFTER_MS */
  hangAfterMs?: number | undefined;
};

/** Every part that lives on the database alone: no socket, no timer. */
export type KernelParts = ReturnType<typeof buildKernel>;

export function buildKernel({
  db,
  commit,
  clock,
  alarms,
  workloads,
  hangAfterMs,
  gateway = null,
  doorTrust = new DoorTrust(null),
  release = null,
  planRecorder,
}: KernelOptions) {
  const now = () => clock.now();
  const meta = new Meta(db);
  const recordOutbox = new RecordOutbox(db, meta, now);
  const records = new KernelRecords(recordOutbox);
  const commands = new CommandOutbox(db, now);
  const outputs = new OutputTable(db);
  const checkpoints = new CheckpointTable(db);
  const lastModels = new LastModelTable(db);
  const logMerges = new LogMergeTable(db);
  const feed = new Feed();
  const changes = new CommittedChanges({ db, commit, clock, feed });
  const jobs = new JobTable(db, changes);
  const members = new MemberTable(db);
  const warnings = new WarningTable(db, changes);
  const largest = db
    .prepare<[], number | null>(
      "SELECT max(json_extract(inventory, '$.memoryBytes')) FROM nodes WHERE state IN ('READY', 'SUSPECT') AND is_cordoned = 0",
    )
    .pluck();
  const bridges = new JobBridges(db, gateway);
  const tables = {
    clock,
    meta,
    jobs,
    order: new OrderTable(db),
    arrays: new ArrayTable(db),
    members,
    outputs,
    checkpoints,
    lastModels,
    logMerges,
    commands,
    records,
    warnings,
    curves: new CurveTable(db),
    changes,
    placementSignal: new PlacementSignal(),
    preemptions: new PreemptionTable(db),
    workloads,
    bridges,
  };
  const transitions: Transitions = new Transitions(tables, {
    onQuarantine: alarms.onQuarantine,
    onEndsLeft: (ended) => endFollower.follow(ended),
    largestNodeBytes: () => largest.get() ?? 0,
  });
  const endFollower = new EndFollower({
    ...{ commit, transitions },
    onError: (error) => alarms.onError(error, "jobs that follow others"),
  });
  const nodes = new NodeTable(db, changes);
  const heartbeats = new Heartbeats(clock, longestLeaseMs(meta, clock));
  const upgrades = new NodeUpgrades(db, clock, heartbeats, release);
  const recordPump = new RecordPump({
    ...{ db, commit, meta, now },
    onRejected: alarms.onAuditRejected,
    onHalted: alarms.onAuditHalted,
    onError: (error) => alarms.onError(error, "audit records"),
  });
  const isDraining = () => recordPump.isDraining();
  const placements = new Placements(db, tables, transitions);
  const replacements = new Replacements(db, tables, transitions);
  const preemptions = new Preemptions(tables, transitions);
  const shares = new ShareTable(db, clock, tables.placementSignal);
  const sharing = new SharingSnapshots(db, clock, workloads, shares);
  const pools = new PoolTable(db, clock, tables.placementSignal);
  const calendar = new CalendarTable(db, tables.placementSignal);
  const gates = new NodeGates(clock, pools, calendar);
  const toldUses = new ToldUses(db, clock);
  const standings = new NodeStandings(db, clock, toldUses.loads);
  const snapshots = new PlacementSnapshots(
    ...([db, tables, transitions, heartbeats, sharing, gates, standings] as const),
  );
  const prospects = new Prospects(clock, snapshots, shares);
  const submissions = new Submissions(
    ...([db, tables, transitions, prospects, pools] as const),
    new PersonQueues(db, shares),
  );
  const jobViews = new JobViews(db, heartbeats, tables);
  const fleetViews = new FleetViews(db, heartbeats);
  const deviceUses = new DeviceUses(db, tables);
  return {
    ...{
      db,
      commit,
      clock,
      meta,
      recordOutbox,
      records,
      commands,
      outputs,
      jobs,
      members,
      tables,
      transitions,
      nodes,
      upgrades,
      heartbeats,
    },
    ...{ workloads, snapshots, endFollower },
    prospectReview: new ProspectReview(commit, tables, snapshots),
    queue: new QueueViews(
      db,
      new PlacementOutlook(
        ...([clock, snapshots, sharing, new ToldStarts(db)] as const),
        new RecentJobs(db, workloads, snapshots),
      ),
      workloads,
      new PlacementScores(tables, snapshots),
    ),
    ...{ shares, recordPump, placements, submissions, fleetViews, toldUses, feed },
    ...{ pools, calendar, calendarWatch: new CalendarWatch(db, commit, tables, gates) },
    replicas: new Replicas(db, tables, transitions),
    removal: new NodeRemoval({
      db,
      clock,
      nodes,
      transitions,
      placementSignal: tables.placementSignal,
    }),
    registry: new Registry({
      ...{ db, nodes, tables, transitions, heartbeats, doorTrust, upgrades },
      ...{ deviceUses, toldUses },
    }),
    desiredSets: new DesiredSets(db, tables, transitions),
    reports: new Reports(db, tables, transitions),
    sweeper: new Sweeper(db, commit, tables, transitions),
    idleWatch: new IdleWatch({ db, commit, tables, transitions, shares, toldUses, deviceUses }),
    hangWatch: new HangWatch(db, commit, clock, warnings, hangAfterMs),
    scheduler: new Scheduler({
      ...{ commit, tables, transitions, placements, replacements, isDraining },
      preemptions,
      snapshots,
      planRecorder,
      onError: (error) => alarms.onError(error, "placement"),
    }),
    liveness: new LivenessMonitor({
      ...{ db, commit, clock, meta, nodes, heartbeats, tables, transitions },
      onBrake: alarms.onBrake,
      onDead: alarms.onNodeDead,
    }),
    kernel: new Kernel({
      db,
      commit,
      tables,
      transitions,
      submissions,
      jobViews,
      fleetViews,
      isDraining,
    }),
  };
}

/** Voids what an older generation gave out: every member that still holds authority is fenced, its job starts again. */
export function voidOlderGenerations({
  db,
  transitions,
}: Pick<KernelParts, "db" | "transitions">): void {
  const held = db
    .prepare<[], { id: string; job_id: string; reason: string | null }>(
      "SELECT id, job_id, reason FROM members WHERE state IN ('LEASED', 'STARTING', 'RUNNING', 'DRAINING', 'RELEASING', 'FENCED')",
    )
    .all();
  for (const { id, reason } of held) {
    transitions.revoke(id, reason === null ? { reason: "generation_changed" } : {});
    transitions.renewFence(id);
  }
  for (const jobId of new Set(held.map(({ job_id }) => job_id))) transitions.reconcile(jobId);
}
