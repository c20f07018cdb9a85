/** Install, job, restart, a killed engine, uninstall, on a host that is not this one. Runs in a network without a route. */
import { join } from "node:path";
import { type BundleSummary, type LocalAppliance, repository } from "../../dev/local-appliance.ts";
import { isVerified, verifyAudit } from "../../dev/verify-audit.ts";
import { ProofAppliance } from "../appliance/proof-appliance.ts";
import { untilHealthy } from "../appliance/until-healthy.ts";
import type { ProofResult } from "../proof.ts";
import { LiveHost } from "./live-host.ts";

const ENGINE = "podman";

export async function lifeOnHost(
  progress: (line: string) => void,
  bundle: BundleSummary,
  root: string,
): Promise<ProofResult> {
  await using host = await LiveHost.start(root, [
    join(repository, ".cache"),
    join(repository, "examples"),
  ]);
  const before = new Set(host.listing());
  const life = await liveThere(progress, bundle, host);
  const left = host.listing().filter((path) => !before.has(path));
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
): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress, bundle, { enter: host.enter });
  const { appliance, installSeconds } = installed;
  const workstation = await installed.workstation("job");
  const first = await workstation.submit((line) => progress(`  ${line}`));
  progress("restarting everything");
  await appliance.command(["stop"]);
  await appliance.command(["start"]);
  await untilHealthy(appliance);
  progress(`killing ${ENGINE}`);
  const killed = pidOf(appliance);
  process.kill(killed, "SIGKILL");
  await untilHealthy(appliance);
  const again = await workstation.submit((line) => progress(`  ${line}`));
  const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
  const isReplaced = pidOf(appliance) !== killed;
  return {
    ok: first.state === "FINISHED" && again.state === "FINISHED" && isReplaced && isVerified(audit),
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

function pidOf(appliance: LocalAppliance): number {
  const pid = appliance.status().parts.find(({ name }) => name === ENGINE)?.pid;
  if (typeof pid !== "number") throw new Error(`${ENGINE} does not run`);
  return pid;
}
