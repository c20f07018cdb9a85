import { execFileSync } from "node:child_process";
import { existsSync, readlinkSync, rmSync, writeFileSync } from "node:fs";

/** True where systemd is PID 1. */
export function hasSystemd(): boolean {
  return existsSync("/run/systemd/system") && readlinkSync("/proc/1/exe").includes("systemd");
}

export const unitName = (instance: string): string => `resontech-${instance}.service`;
export const unitFile = (instance: string): string => `/etc/systemd/system/${unitName(instance)}`;

/** One unit starts the supervisor; everything else is the supervisor's. */
export function installUnit(root: string, instance: string): void {
  writeFileSync(
    unitFile(instance),
    `[Unit]
Description=ResonTech sovereign appliance (${instance})
After=network.target local-fs.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${root}/current/bin/appliance --root ${root} supervise
Restart=always
RestartSec=1
KillMode=process
TimeoutStopSec=180
Delegate=yes
UMask=0027

[Install]
WantedBy=multi-user.target
`,
  );
  execFileSync("systemctl", ["daemon-reload"]);
  execFileSync("systemctl", ["enable", "--quiet", unitName(instance)]);
}

export function removeUnit(instance: string): void {
  if (!existsSync(unitFile(instance))) return;
  execFileSync("systemctl", ["disable", "--now", "--quiet", unitName(instance)]);
  rmSync(unitFile(instance), { force: true });
  execFileSync("systemctl", ["daemon-reload"]);
}
