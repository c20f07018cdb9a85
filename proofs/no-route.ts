/**
 * `install.sh`, a federated job, the audit log's verification and the uninstall, all in a network namespace that has a loopback and no
 * route: the bundle and this host are everything that they can reach.
 *
 * `npm run prove -- no-route`
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { connect } from "node:net";
import { runChild } from "../dev/child.ts";
import { hostState } from "../dev/host-state.ts";
import { buildBundle, type BundleSummary } from "../dev/local-appliance.ts";
import { verifyAudit } from "../dev/verify-audit.ts";
import { ProofAppliance } from "./appliance/proof-appliance.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const INSIDE = "--inside";
/** TEST-NET-3 of RFC 5737: nobody answers there, so an answer other than "unreachable" means that a packet went out. */
const ELSEWHERE = { host: "203.0.113.1", port: 443 } as const;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [flag, bundle] = args;
  if (flag === INSIDE && bundle !== undefined) return await proveInside(progress, JSON.parse(bundle) as BundleSummary);

  progress("building the bundle, which may use the network");
  const built = await buildBundle();
  const name = `rt-no-route-${process.pid}`;
  execFileSync("ip", ["netns", "add", name]);
  try {
    execFileSync("ip", ["-netns", name, "link", "set", "lo", "up"]);
    progress(`the rest runs in the network namespace ${name}`);
    // Not `ip netns exec`: it mounts a /sys of its own, which hides the host's cgroups from the container engine.
    const output = await runChild("nsenter", [
      `--net=/run/netns/${name}`,
      process.execPath,
      join(import.meta.dirname, "main.ts"),
      "no-route",
      INSIDE,
      JSON.stringify(built),
    ]).catch((error: unknown) => {
      throw new Error("the part inside failed; its last line above says more", { cause: error });
    });
    const { ok, figures } = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as ProofResult;
    return { ok: ok && routes().length > 0, figures: { ...figures, routes_of_the_host: routes().length } };
  } finally {
    execFileSync("ip", ["netns", "delete", name]);
  }
}

async function proveInside(progress: ProofContext["progress"], bundle: BundleSummary): Promise<ProofResult> {
  const routesInside = routes();
  const dialled = await dial();
  progress(`routes: ${routesInside.length}; a dial to ${ELSEWHERE.host}: ${dialled}`);
  const installed = await ProofAppliance.install(progress, bundle);
  const { appliance, installSeconds } = installed;
  const { instance, root } = appliance;
  const proven = await (async () => {
    await using _ = installed;
    const workstation = await installed.workstation("job");
    const job = await workstation.submit((line) => progress(`  ${line}`));
    const heldOut = await workstation.evaluate();
    const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
    return { job, heldOut, audit };
  })();
  const left = hostState(instance, root);
  const { job, heldOut, audit } = proven;
  return {
    ok:
      routesInside.length === 0 &&
      dialled === "ENETUNREACH" &&
      job.state === "FINISHED" &&
      (job.accuracyByRound.at(-1) ?? 0) > (job.accuracyByRound[0] ?? 1) &&
      audit["SIGNATURE"] === "PASS" &&
      audit["INTEGRITY"] === "PASS" &&
      left.length === 0,
    figures: {
      routes: routesInside.length,
      dial_elsewhere: dialled,
      install_s: Number(installSeconds.toFixed(1)),
      job: {
        state: job.state,
        seconds: Number(job.seconds.toFixed(1)),
        accuracy_by_round: job.accuracyByRound,
        held_out: heldOut,
      },
      audit,
      left_after_uninstall: left,
    },
  };
}

/** Of every table, both families; what the kernel keeps for loopback addresses is none. */
function routes(): string[] {
  return ["-4", "-6"]
    .flatMap((family) => execFileSync("ip", [family, "route", "show", "table", "all"], { encoding: "utf8" }).split("\n"))
    .filter((line) => line !== "" && !/\bdev lo\b/.test(line));
}

async function dial(): Promise<string> {
  return await new Promise((resolve) => {
    const socket = connect({ ...ELSEWHERE, timeout: 3_000 });
    const end = (how: string): void => {
      socket.destroy();
      resolve(how);
    };
    socket.once("connect", () => end("connected"));
    socket.once("timeout", () => end("no answer"));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
