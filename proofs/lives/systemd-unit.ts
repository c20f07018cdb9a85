/**
 * The appliance under a real systemd: installed, its supervisor killed, stopped, started by the unit alone, back by itself after a power cut
 * and a boot, taken back. This host boots a second time in namespaces of its own, over a copy-on-write view of its files.
 *
 * `npm run prove -- systemd-unit`
 */
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ShownStatus,
  buildOwnBundle,
  installFlags,
  repository,
} from "@resontech/house/local-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";
import { BootedHost } from "./systemd/booted-host.ts";

const INSTANCE = "unit";
const UNIT = `resontech-${INSTANCE}.service`;
const HEALTHY_LIMIT_MS = 180_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  progress("building the bundle");
  const { bundle } = await buildOwnBundle();
  await using host = new BootedHost(mkdtempSync(join(repository, ".cache", "booted-")), bundle);
  const root = join(host.data, "root");
  const command = join(root, "current", "bin", "appliance");
  const appliance = (...args: string[]): Promise<string> =>
    host.run(command, ["--root", root, ...args]);
  const show = async (property: string): Promise<string> =>
    (await host.run("systemctl", ["show", "--property", property, "--value", UNIT])).trim();
  const untilHealthy = async (): Promise<number> => {
    const from = Date.now();
    for (; Date.now() - from < HEALTHY_LIMIT_MS; await sleep(500)) {
      const text = await appliance("status", "--json").catch(() => "");
      const { parts = [] } = text === "" ? {} : (JSON.parse(text) as Partial<ShownStatus>);
      if (parts.length > 0 && parts.every(({ phase }) => phase === "healthy"))
        return Math.round((Date.now() - from) / 100) / 10;
    }
    throw new Error(`not healthy after ${HEALTHY_LIMIT_MS / 1000} s`);
  };

  progress("booting");
  await host.boot();
  progress("installing");
  const flags = installFlags({ instance: INSTANCE, root, portOffset: 13_000, cpuWorkers: 2 });
  await host.run("sh", [join(bundle, "install.sh"), ...flags]);
  await untilHealthy();
  const installed = { active: await show("ActiveState"), enabled: await show("UnitFileState") };

  progress("kill -9 of the supervisor");
  await host.run("kill", ["-KILL", await show("MainPID")]);
  while ((await show("NRestarts")) === "0") await sleep(200);
  const afterKillS = await untilHealthy();

  progress("stop, then start by the unit alone");
  const said = await appliance("stop");
  const stopped = await show("ActiveState");
  await host.run("systemctl", ["start", UNIT]);
  const afterStartS = await untilHealthy();

  progress("power cut and boot");
  await host.cutPower();
  await host.boot();
  const afterBootS = await untilHealthy();

  progress("uninstall");
  await appliance("uninstall", "--yes");
  const left = [
    ...(await host.run("systemctl", ["list-units", "--all", "--no-legend", "resontech*"]))
      .split("\n")
      .filter(Boolean),
    ...(await host.run("find", ["/etc/systemd", "/run", "-name", "*resontech*"]))
      .split("\n")
      .filter(Boolean),
    ...(existsSync(root) ? [root] : []),
    ...readdirSync(host.data),
  ];
  return {
    ok:
      installed.active === "active" &&
      installed.enabled === "enabled" &&
      stopped === "inactive" &&
      left.length === 0,
    figures: {
      installed,
      healthy_after_kill_9_s: afterKillS,
      stop_said: said.trim(),
      after_stop: stopped,
      healthy_after_unit_start_s: afterStartS,
      healthy_after_power_cut_and_boot_s: afterBootS,
      left,
    },
  };
}
