/** What each gauge says, from what is known. No label holds a name of a person or a job (ids it may), or anything that a user wrote. */
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { LogStatus } from "@resontech/contracts/audit-control";
import type { CoordinatorHealth, NodeHealth } from "@resontech/contracts/coordinator-health";
import { NODE_STATES } from "@resontech/contracts/node-states";
import type { WorkerView } from "../../kernel/fleet-view.ts";
import type { WorkCounts } from "../work-counts.ts";

/** One value with its labels. `suffix`: of a histogram, which of its lines this is. */
export type Sample = {
  labels?: Readonly<Record<string, string>>;
  value: number;
  suffix?: "_bucket" | "_sum" | "_count";
};
/** Name without the product's prefix, help, values. What ends in `_total` counts up, what has suffixes is a histogram, any other is a gauge. */
export type Family = readonly [name: string, help: string, samples: readonly Sample[]];

const WORKER_STATES = ["free", "busy", "unavailable"] as const;
const AUDIT_STATES = ["ok", "away", "draining", "halted"] as const;
const MS = 1_000;

export function workFamilies({ jobs, waiting, longestWaitMs, leases }: WorkCounts): Family[] {
  return [
    [
      "jobs",
      "Jobs by state.",
      [...jobs].map(([state, value]) => ({ labels: { state: state.toLowerCase() }, value })),
    ],
    ["jobs_waiting", "Jobs that wait for devices.", one(waiting)],
    [
      "jobs_longest_wait_seconds",
      "How long the job waits that waits longest; 0 where none does.",
      one(longestWaitMs / MS),
    ],
    ["leases", "Devices that are held for a member of a job.", one(leases)],
  ];
}

export function healthFamilies(health: CoordinatorHealth): Family[] {
  const { audit, nodes } = health;
  return [
    [
      "database_up",
      "1 where the coordinator can write its database.",
      flag(health.database === "ok"),
    ],
    ["storage_up", "1 where the object store answers.", flag(health.storage === "ok")],
    ["bus_up", "1 where the coordinator is connected to the bus.", flag(health.bus === "up")],
    [
      "planned_stop",
      "1 while leases live longer for a planned stop.",
      flag(health.plannedStopUntil !== null),
    ],
    [
      "silence_brake",
      "1 while nodes are silent and none is declared dead.",
      flag(health.brake !== null),
    ],
    [
      "audit_state",
      "1 at the state of the audit log as the coordinator meets it.",
      AUDIT_STATES.map((state) => ({ labels: { state }, value: state === audit.state ? 1 : 0 })),
    ],
    ["audit_outbox_records", "Records that auditd has not acknowledged.", one(audit.waiting)],
    [
      "audit_outbox_oldest_seconds",
      "How long the oldest of them has waited.",
      one(audit.oldestWaitMs / MS),
    ],
    ...nodeFamilies(nodes),
  ];
}

function nodeFamilies(nodes: readonly NodeHealth[]): Family[] {
  const each = (valueOf: (node: NodeHealth) => number | null): Sample[] =>
    nodes.flatMap((node) => {
      const value = valueOf(node);
      return value === null ? [] : [{ labels: { node: node.node }, value }];
    });
  const devices = nodes.flatMap(({ node, devices = [] }) =>
    devices.map((use) => ({ labels: { node, worker: use.worker }, use })),
  );
  const ofDevices = (valueOf: (use: (typeof devices)[number]["use"]) => number | undefined) =>
    devices.flatMap(({ labels, use }) => {
      const value = valueOf(use);
      return value === undefined ? [] : [{ labels, value }];
    });
  return [
    [
      "nodes",
      "Nodes by state.",
      NODE_STATES.map((state) => ({
        labels: { state: state.toLowerCase() },
        value: nodes.filter((node) => node.state === state).length,
      })),
    ],
    [
      "node_ready",
      "1 where the node may be given work: ready and not drained.",
      each(({ state, cordonReason }) => (state === "READY" && cordonReason === null ? 1 : 0)),
    ],
    [
      "node_lost",
      "1 where the node is taken for dead.",
      each(({ state }) => (state === "DEAD" ? 1 : 0)),
    ],
    [
      "node_drained",
      "1 where somebody took the node out of work.",
      each(({ cordonReason }) => (cordonReason === null ? 0 : 1)),
    ],
    [
      "node_silent_seconds",
      "Time since the node's last beat.",
      each(({ silentMs }) => (silentMs === null ? null : silentMs / MS)),
    ],
    [
      "node_disk_free_bytes",
      "Room for jobs on the node.",
      each(({ diskFreeBytes }) => diskFreeBytes),
    ],
    [
      "node_disk_enough",
      "0 where that is too little for work.",
      each(({ hasDisk }) => (hasDisk ? 1 : 0)),
    ],
    [
      "devices_quarantined",
      "Devices of the node in quarantine.",
      each(({ quarantined }) => quarantined.length),
    ],
    [
      "devices_unhealthy",
      "Devices that the node's agent does not take for well.",
      each(({ unhealthy = [] }) => unhealthy.length),
    ],
    [
      "device_memory_used_bytes",
      "Memory in use on the device.",
      ofDevices((use) => use.memoryInUseBytes),
    ],
    [
      "device_utilization_ratio",
      "How busy the device is, 0 to 1.",
      ofDevices(({ utilizationPercent }) =>
        utilizationPercent === undefined ? undefined : utilizationPercent / 100,
      ),
    ],
    ["device_power_watts", "Power that the device takes.", ofDevices((use) => use.powerWatts)],
    [
      "device_temperature_celsius",
      "Temperature of the device.",
      ofDevices((use) => use.temperatureC),
    ],
  ];
}

export function workerFamilies(workers: readonly WorkerView[]): Family[] {
  return [
    [
      "workers",
      "Workers, a device or a processor each, by what they can do now.",
      WORKER_STATES.map((status) => ({
        labels: { status },
        value: workers.filter((worker) => worker.status === status).length,
      })),
    ],
    [
      "accelerators",
      "Workers that are accelerators, by what they can do now.",
      WORKER_STATES.map((status) => ({
        labels: { status },
        value: workers.filter((worker) => worker.kind === "gpu" && worker.status === status).length,
      })),
    ],
    [
      "worker_memory_bytes",
      "Memory of the worker.",
      workers.map(({ id, node, model, totalMemoryMb }) => ({
        labels: { node, worker: id, model },
        value: totalMemoryMb * 1024 ** 2,
      })),
    ],
  ];
}

export function logFamilies({ size, checkpointSize, draining, clock }: LogStatus): Family[] {
  return [
    ["audit_entries", "Durable entries of the audit log's shard.", one(size)],
    ["audit_checkpoint_entries", "Entries under the newest checkpoint.", one(checkpointSize)],
    ["audit_disk_low", "1 while auditd lives on the room that it held back.", flag(draining)],
    ["audit_clock_trusted", "1 where auditd trusts the clock.", flag(clock.trusted)],
  ];
}

export function applianceFamilies(facts: ApplianceFacts, now: number): Family[] {
  const ofParts = (valueOf: (part: ApplianceFacts["parts"][number]) => number): Sample[] =>
    facts.parts.map((part) => ({ labels: { part: part.part }, value: valueOf(part) }));
  /** @param valueOf undefined: the disk has none */
  const ofDisks = (valueOf: (disk: ApplianceFacts["disks"][number]) => number | undefined) =>
    facts.disks.flatMap((disk): Sample[] => {
      const value = valueOf(disk);
      return value === undefined ? [] : [{ labels: { holds: disk.holds }, value }];
    });
  return [
    [
      "supervisor_facts_age_seconds",
      "How old the supervisor's own words are: parts, certificates and disks.",
      one(Math.max(0, now - facts.at) / MS),
    ],
    ["part_up", "1 where the part is healthy.", ofParts(({ isHealthy }) => (isHealthy ? 1 : 0))],
    ["part_held", "1 where somebody stopped the part.", ofParts(({ isHeld }) => (isHeld ? 1 : 0))],
    ["part_restarts", "Restarts since the supervisor began.", ofParts(({ restarts }) => restarts)],
    [
      "certificate_expiry_timestamp_seconds",
      "When the certificate ends, Unix time.",
      facts.certificates.map(({ file, expiresAt }) => ({
        labels: { certificate: file },
        value: expiresAt / MS,
      })),
    ],
    [
      "alert_target_failing",
      "1 where alerts did not reach the target at the last try.",
      (facts.targets ?? []).map(({ target, isFailing }) => ({
        labels: { target },
        value: isFailing ? 1 : 0,
      })),
    ],
    ...backupFamilies(facts),
    [
      "disk_log_refuses_below_bytes",
      "Of the audit log's disk: with less free, new jobs are refused.",
      ofDisks(({ refusesBelowBytes }) => refusesBelowBytes),
    ],
    ["disk_size_bytes", "Size of the file system.", ofDisks(({ totalBytes }) => totalBytes)],
    ["disk_free_bytes", "Room that is left on it.", ofDisks(({ freeBytes }) => freeBytes)],
    [
      "disk_files",
      "Files that it can hold; 0 where that has no bound.",
      ofDisks((disk) => disk.totalInodes),
    ],
    ["disk_files_free", "Files that it can still take.", ofDisks(({ freeInodes }) => freeInodes)],
  ];
}

/** None where no backup is scheduled. */
function backupFamilies({ backup }: ApplianceFacts): Family[] {
  if (backup === undefined) return [];
  const { takenAt, isOverdue, behindS } = backup;
  return [
    [
      "backup_last_timestamp_seconds",
      "When the last whole backup of the schedule was taken, Unix time; 0 where there is none.",
      one((takenAt ?? 0) / MS),
    ],
    [
      "backup_overdue",
      "1 where none was taken for twice the time of the schedule.",
      flag(isOverdue),
    ],
    [
      "backup_behind_seconds",
      "How much of what was done last the target does not have yet.",
      behindS === null ? [] : one(behindS),
    ],
  ];
}

function one(value: number): Sample[] {
  return [{ value }];
}

function flag(is: boolean): Sample[] {
  return one(is ? 1 : 0);
}
