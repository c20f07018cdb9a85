import type { LogStatus } from "@resontech/contracts/audit-control";
import type { OperatorAnswer } from "@resontech/contracts/operator-routes";
import { coordinatorAt } from "../first-boot/ask-coordinator.ts";
import type { VaultHealth } from "@resontech/contracts/vault-control";
import type { PartContext } from "../parts/context.ts";
import { FRONT_HEALTH_PATH, s3Front } from "@resontech/s3-front/part";
import { askPort } from "../parts/declared-part.ts";
import { askAuditd } from "../operator/ask-auditd.ts";
import { askVault } from "../operator/ask-vault.ts";
import { type BackupFacts, readBackupFacts } from "../backup/read-backup-facts.ts";
import type { Finding, FindingFacts } from "@resontech/frame/finding";
import { findingsOf } from "./decisions/findings.ts";
import { logOf } from "./log-of.ts";
import { readCertificates } from "./read-certificates.ts";
import { readDisks } from "./read-disks.ts";
import { toolsEnvironment } from "../host-tools/tools-environment.ts";
import { readRuncVersion } from "../runc/read-runc-version.ts";
import { readRealmFacts } from "../keycloak/realm-watch.ts";
import { askSupervisor, listParts } from "../supervisor/control.ts";
import { healthyForMs } from "../supervisor/decisions/healthy-for.ts";
import type { PartStatus } from "../supervisor/supervisor.ts";

export type ApplianceStatus = {
  version: string;
  root: string;
  instance: string;
  running: boolean;
  healthy: boolean;
  parts: PartStatus[];
  /** What the coordinator says of its fleet; null while it does not answer. */
  fleet: Fleet | null;
  /** What is wrong and what to do, the worst first. */
  findings: Finding[];
};

type Fleet = Pick<OperatorAnswer<"status">, "nodes" | "jobs" | "health" | "policySet">;

const FLEET_TIMEOUT_MS = 3_000;

export async function readStatus(context: PartContext): Promise<ApplianceStatus> {
  const { layout, release } = context;
  const reply = await askSupervisor(layout.supervisorSocket, listParts, {});
  const parts = reply?.parts ?? [];
  const [fleet, frontLagMs, log, vault] =
    reply === null
      ? [null, null, null, null]
      : await Promise.all([
          readFleet(layout.run("coordinator", "control")),
          readFrontLag(context),
          readLog(context),
          readVault(context),
        ]);
  const nowMs = Date.now();
  const backups = readBackupFacts(layout, nowMs, healthyForMs(parts, "coordinator"));
  const findings = findingsOf(
    {
      ...{ parts, disks: readDisks(layout), certificates: readCertificates(layout, nowMs) },
      backups,
      runc:
        context.config.agent === null
          ? null
          : readRuncVersion(
              context.config.containerEngine.kind,
              toolsEnvironment(context.config, context.layout.current),
            ),
      of: {
        ...{ nowMs, health: fleet?.health ?? null, frontLagMs, vault },
        rolledBack: log?.rolledBack ?? null,
        realm: readRealmFacts(layout),
        followed: followedOf(backups),
        logOf: (part) => logOf(context, part),
      },
    },
    context.parts,
  );
  return {
    version: release.version,
    root: layout.root,
    instance: layout.instance,
    running: reply !== null,
    healthy: parts.length > 0 && parts.every((part) => part.phase === "healthy"),
    parts,
    ...{ fleet, findings },
  };
}

function followedOf(backups: BackupFacts | null): FindingFacts["followed"] {
  const followed = backups?.followed ?? null;
  return backups === null || followed === null ? null : { target: backups.target, ...followed };
}

async function readFleet(socket: string): Promise<Fleet | null> {
  try {
    const { nodes, jobs, health, policySet } = await coordinatorAt(
      socket,
      FLEET_TIMEOUT_MS,
    )("status");
    return { nodes, jobs, health, policySet };
  } catch {
    // A finding says so.
    return null;
  }
}

/** Asks auditd for its status; null when it does not answer: then its part says so. */
async function readLog({ layout }: PartContext): Promise<LogStatus | null> {
  return askAuditd(
    layout.run("audit", "control", "sock"),
    { verb: "status" },
    FLEET_TIMEOUT_MS,
  ).catch(() => null);
}

/** Asks the vault for its health; null when it does not answer: then its part says so. */
async function readVault({ layout }: PartContext): Promise<VaultHealth | null> {
  return askVault<VaultHealth>(
    layout.run("vault", "sock"),
    { verb: "health" },
    FLEET_TIMEOUT_MS,
  ).catch(() => null);
}

/** Asks the S3 front how late its event loop was, in milliseconds; null when it does not answer: then its part says so. */
async function readFrontLag(context: PartContext): Promise<number | null> {
  const answer = await askPort(context, s3Front, FRONT_HEALTH_PATH).catch(() => null);
  if (answer?.status !== 200) return null;
  const { loopLagMs } = JSON.parse(answer.body) as { loopLagMs?: unknown };
  return typeof loopLagMs === "number" ? loopLagMs : null;
}

/** A table of at most 80 columns. */
export function renderStatus(status: ApplianceStatus): string {
  const head = `resontech appliance ${status.version} (${status.instance}) below ${status.root}\n`;
  return `${head}${[...stateLines(status), ...findingLines(status)].join("\n")}\n`;
}

function stateLines({ running, root, parts, fleet }: ApplianceStatus): string[] {
  if (!running) return [`not running; start it with: appliance --root ${root} start`];
  return parts.length === 0 ? ["starting"] : [...partLines(parts), ...fleetLines(fleet)];
}

function partLines(parts: readonly PartStatus[]): string[] {
  const rows = parts.map((part) => [
    part.name,
    part.isHeld ? "stopped" : part.phase,
    part.version,
    part.port === null ? "-" : String(part.port),
    part.pid === null ? "-" : String(part.pid),
    duration(part.sinceMs),
    String(part.restarts),
  ]);
  const table = [["PART", "HEALTH", "VERSION", "PORT", "PID", "SINCE", "RESTARTS"], ...rows];
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function fleetLines(fleet: Fleet | null): string[] {
  if (fleet === null) return [];
  const nodes = fleet.nodes.map(
    ({ node, state, workers }) => `${node} ${state}, ${workers} workers`,
  );
  const jobs = Object.entries(fleet.jobs).map(([state, count]) => `${count} ${state}`);
  return [
    "",
    `nodes  ${nodes.join(" · ") || "none has joined"}`,
    `jobs   ${jobs.join(" · ") || "none"}`,
  ];
}

function findingLines({ findings, parts }: ApplianceStatus): string[] {
  // Of what does not run yet nobody can say so.
  if (findings.length === 0) return parts.length === 0 ? [] : ["", "nothing is wrong"];
  return [
    "",
    ...findings.flatMap(({ severity, what, todo }) => [
      `${severity === "fault" ? "FAULT  " : "warning"}  ${what}`,
      `         → ${todo}`,
    ]),
  ];
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
