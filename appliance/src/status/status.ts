import { alikeFindings } from "@resontech/contracts/alike-findings";
import type { OperatorAnswer } from "@resontech/contracts/operator-routes";
import { coordinatorAt } from "../first-boot/ask-coordinator.ts";
import type { PartContext } from "../parts/context.ts";
import type { Finding } from "@resontech/frame/finding";
import { findingsOf } from "./decisions/findings.ts";
import { readOwnRunc, readStatusFacts } from "./read-status-facts.ts";
import { askSupervisor, listParts } from "../supervisor/control.ts";
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
  const fleet = reply === null ? null : await readFleet(layout.run("coordinator", "control"));
  const facts = await readStatusFacts(context, {
    ...{ parts, health: fleet?.health ?? null, isRunning: reply !== null },
    runc: readOwnRunc(context),
  });
  return {
    version: release.version,
    root: layout.root,
    instance: layout.instance,
    running: reply !== null,
    healthy: parts.length > 0 && parts.every((part) => part.phase === "healthy"),
    parts,
    ...{ fleet, findings: findingsOf(facts, context.parts) },
  };
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
    ...alikeFindings(findings).flatMap(({ first, more }) => [
      ...first.flatMap(({ severity, what, todo }) => [
        `${severity === "fault" ? "FAULT  " : "warning"}  ${what}`,
        `         → ${todo}`,
      ]),
      ...(more.length === 0 ? [] : [`         ${more.length} more like these; --json has all`]),
    ]),
  ];
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
