import type { PartContext } from "../parts/context.ts";
import { askSupervisor } from "../supervisor/control.ts";
import type { PartStatus } from "../supervisor/supervisor.ts";

export type ApplianceStatus = {
  version: string;
  root: string;
  instance: string;
  running: boolean;
  healthy: boolean;
  parts: PartStatus[];
};

export async function readStatus({ layout, release }: PartContext): Promise<ApplianceStatus> {
  const reply = await askSupervisor(layout.run("supervisor.sock"), { verb: "status" });
  const parts = reply?.parts ?? [];
  return {
    version: release.version,
    root: layout.root,
    instance: layout.instance,
    running: reply !== null,
    healthy: parts.length > 0 && parts.every((part) => part.phase === "healthy"),
    parts,
  };
}

/** A table of at most 80 columns. */
export function renderStatus(status: ApplianceStatus): string {
  const head = `resontech appliance ${status.version} (${status.instance}) below ${status.root}\n`;
  if (!status.running) return `${head}not running; start it with: appliance --root ${status.root} start\n`;
  const rows = status.parts.map((part) => [
    part.name,
    part.phase,
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
  const failed = status.parts
    .filter((part) => part.lastExit !== null && part.phase !== "healthy")
    .map((part) => `${part.name}: last ended with ${part.lastExit ?? ""}`);
  return `${head}${[...lines, ...failed].join("\n")}\n`;
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
