import type { ControlReply } from "@resontech/contracts/control-protocol";
import { askCoordinator } from "../first-boot/ask-coordinator.ts";
import type { PartContext } from "../parts/context.ts";
import { type Finding, findingsOf } from "./decisions/findings.ts";
import { logOf } from "./log-of.ts";
import { readCertificates } from "./read-certificates.ts";
import { readDisks } from "./read-disks.ts";
import { askSupervisor } from "../supervisor/control.ts";
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

type Fleet = Pick<Extract<ControlReply, { verb: "status" }>, "nodes" | "jobs" | "health">;

const FLEET_TIMEOUT_MS = 3_000;

export async function readStatus(context: PartContext): Promise<ApplianceStatus> {
  const { layout, release } = context;
  const reply = await askSupervisor(layout.run("supervisor.sock"), { verb: "status" });
  const parts = reply?.parts ?? [];
  const fleet = reply === null ? null : await readFleet(layout.run("coordinator", "control"));
  const findings = findingsOf({
    ...{ parts, health: fleet?.health ?? null, disks: readDisks(layout), certificates: readCertificates(layout, Date.now()) },
    logOf: (part) => logOf(context, part),
  });
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

async function readFleet(socket: string): Promise<Fleet | null> {
  try {
    const { nodes, jobs, health } = await askCoordinator(socket, { verb: "status" }, FLEET_TIMEOUT_MS);
    return { nodes, jobs, health };
  } catch {
    // Its own line of the table says that it is not healthy.
    return null;
  }
}

/** A table of at most 80 columns. */
export function renderStatus(status: ApplianceStatus): string {
  const head = `resontech appliance ${status.version} (${status.instance}) below ${status.root}\n`;
  if (!status.running) return `${head}not running; start it with: appliance --root ${status.root} start\n`;
  if (status.parts.length === 0) return `${head}starting\n`;
  const rows = status.parts.map((part) => [
    part.name,
    part.isHeld ? "stopped" : part.phase,
    part.version,
    part.port === null ? "-" : String(part.port),
    part.pid === null ? "-" : String(part.pid),
    duration(part.sinceMs),
    String(part.restarts),
  ]);
  const table = [["PART", "HEALTH", "VERSION", "PORT", "PID", "SINCE", "RESTARTS"], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${head}${[...lines, ...fleetLines(status.fleet), ...findingLines(status.findings)].join("\n")}\n`;
}

function fleetLines(fleet: Fleet | null): string[] {
  if (fleet === null) return [];
  const nodes = fleet.nodes.map(({ node, state, workers }) => `${node} ${state}, ${workers} workers`);
  const jobs = Object.entries(fleet.jobs).map(([state, count]) => `${count} ${state}`);
  return ["", `nodes  ${nodes.join(" · ") || "none has joined"}`, `jobs   ${jobs.join(" · ") || "none"}`];
}

function findingLines(findings: readonly Finding[]): string[] {
  if (findings.length === 0) return ["", "nothing is wrong"];
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
