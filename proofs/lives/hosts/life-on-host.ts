/** Install, job, restart, a killed engine, uninstall, on a host that is not this one. Runs in a network without a route. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type BundleSummary,
  type LocalAppliance,
  repository,
} from "@resontech/house/local-appliance";
import { isVerified, verifyAudit } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { untilHealthy } from "@resontech/house/until-healthy";
import type { ProofResult } from "../../proof.ts";
import { LiveHost } from "./live-host.ts";

const ENGINE = "podman";
/** What Docker itself keeps of its own, whoever used it. */
const DOCKERS = /^\/(run|var\/lib)\/(docker|containerd)|^\/var\/log\/|^\/run\/(xtables|netns)/;
const DOCKER_START_MS = 60_000;

export async function lifeOnHost(
  progress: (line: string) => void,
  bundle: BundleSummary,
  root: string,
  withDocker: boolean,
): Promise<ProofResult> {
  await using host = await LiveHost.start(root, [
    join(repository, ".cache"),
    join(repository, "examples"),
  ]);
  await using _docker = withDocker ? await startDocker(host) : null;
  const before = new Set(host.listing());
  const life = await liveThere(progress, bundle, host, withDocker);
  const left = host
    .listing()
    .filter((path) => !before.has(path) && !(withDocker && DOCKERS.test(path)));
  progress(`left after uninstall: ${left.join(", ") || "nothing"}; ${JSON.stringify(life)}`);
  return {
    ok: life.ok && left.length === 0,
    figures: { ...life.figures, left_after_uninstall: left },
  };
}

async function liveThere(
  progress: (line: string) => void,
  bundle: BundleSummary,
  host: LiveHost,
  withDocker: boolean,
): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress, bundle, {
    enter: host.enter,
    ...(withDocker ? { engine: "docker" } : {}),
  });
  const { appliance, installSeconds } = installed;
  const workstation = await installed.workstation("job");
  const first = await workstation.submit((line) => progress(`  ${line}`));
  progress("restarting everything");
  await appliance.command(["stop"]);
  await appliance.command(["start"]);
  await untilHealthy(appliance);
  // A Docker is the host's, whose service manager starts it again.
  const killed = withDocker ? null : pidOf(appliance);
  if (killed !== null) {
    progress(`killing ${ENGINE}`);
    process.kill(killed, "SIGKILL");
    await untilHealthy(appliance);
  }
  const again = await workstation.submit((line) => progress(`  ${line}`));
  const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
  const isReplaced = killed === null ? null : pidOf(appliance) !== killed;
  return {
    ok:
      first.state === "FINISHED" &&
      again.state === "FINISHED" &&
      isReplaced !== false &&
      isVerified(audit),
    figures: {
      install_s: Number(installSeconds.toFixed(1)),
      job: first.state,
      accuracy: first.accuracyByRound.at(-1) ?? null,
      engine_replaced: isReplaced,
      job_after_restart_and_kill: again.state,
      audit,
    },
  };
}

async function startDocker(host: LiveHost): Promise<AsyncDisposable> {
  const [program, args] = host.enter("dockerd", []);
  const daemon = spawn(program, args, { stdio: "ignore" });
  const answers = (): boolean =>
    spawnSync(...host.enter("docker", ["version"]), { stdio: "ignore" }).status === 0;
  for (const from = Date.now(); !answers(); await sleep(500))
    if (Date.now() - from > DOCKER_START_MS) throw new Error("Docker did not start");
  return {
    [Symbol.asyncDispose]: async () => {
      daemon.kill("SIGTERM");
      await once(daemon, "exit");
    },
  };
}

function pidOf(appliance: LocalAppliance): number {
  const pid = appliance.status().parts.find(({ name }) => name === ENGINE)?.pid;
  if (typeof pid !== "number") throw new Error(`${ENGINE} does not run`);
  return pid;
}
