/** Where systemd is PID 1, one unit starts the supervisor; everything else is the supervisor's. */
import { execFileSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import type { HostKind } from "@resontech/frame/job-host";

/** What an install is, and the command of the release that supervises it. */
const KINDS: Readonly<Record<HostKind, { description: string; command: string }>> = {
  appliance: { description: "sovereign appliance", command: "appliance" },
  node: { description: "node of a sovereign appliance", command: "appliance-node" },
};

export const unitName = (instance: string): string => `resontech-${instance}.service`;
export const unitFile = (instance: string): string => `/etc/systemd/system/${unitName(instance)}`;

/** Tells whether systemd is PID 1. */
export function hasSystemd(): boolean {
  return existsSync("/run/systemd/system") && realpathSync("/proc/1/exe").includes("systemd");
}

/** Tells whether the unit of this instance starts and stops the supervisor. */
export function isManagedBySystemd(instance: string): boolean {
  return existsSync(unitFile(instance)) && hasSystemd();
}

export function systemctl(...args: readonly string[]): void {
  execFileSync("systemctl", ["--quiet", ...args], { stdio: ["ignore", "ignore", "inherit"] });
}

/**
 * A stop is asked of the supervisor alone, which takes its parts down in order; when it crashes they go on, and the next one replaces them
 * one by one. The control group is delegated, because job containers have their own below it.
 */
export function renderUnit(root: string, instance: string, kind: HostKind): string {
  const { description, command } = KINDS[kind];
  return `[Unit]
Description=ResonTech ${description} (${instance})
After=network.target local-fs.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${root}/current/bin/${command} --root ${root} supervise
Restart=on-failure
RestartSec=1
KillMode=process
TimeoutStopSec=180
OOMScoreAdjust=-800
Delegate=yes
UMask=0027

[Install]
WantedBy=multi-user.target
`;
}
