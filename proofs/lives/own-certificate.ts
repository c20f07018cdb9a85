/**
 * A customer's certificate in the doors of an installed appliance: beneath a job and an endpoint, through a restart and a rotation, and given up again.
 * Whoever trusts the customer's authority alone is served meanwhile, and jobs are pulled, staged and stored through the same doors.
 *
 *     npm run prove -- own-certificate
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { connect } from "node:tls";
import { CustomersPki } from "@resontech/house/customers-pki";
import { ChatDeployment } from "@resontech/house/chat-deployment";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { untilHealthy } from "@resontech/house/until-healthy";
import type { ProofContext, ProofResult } from "../proof.ts";
import { isUntouched, LastingJob } from "./life/lasting-job.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { verifyLife } from "./life/verify-life.ts";

const ADDRESS = "127.0.0.1";
const NAME = "localhost";
const DOORS = ["api", "s3", "registry"] as const;
const ROUNDS = "3";

/** By which authority alone a door is trusted. */
type Shown = "customer" | "own" | "neither";
type Step = { name: string; customers: boolean; words: readonly string[] };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const installed = await ProofAppliance.install(progress, undefined, { cpuWorkers: 4 });
  const { lived: figures, left } = await liveAndUninstall(installed, () =>
    live(installed, progress),
  );
  const { steps, checked_only: checkedOnly, lasting, audit } = figures;
  return {
    ok:
      checkedOnly.every((shown) => shown === "own") &&
      steps.every(
        ({ customers, doors, endpoint, job }) =>
          doors.every((shown) => shown === (customers ? "customer" : "own")) &&
          endpoint &&
          job === "FINISHED",
      ) &&
      isUntouched(lasting, "RUNNING") &&
      isVerified(audit) &&
      left.length === 0,
    figures: { ...figures, left_after_uninstall: left },
  };
}

async function live(installed: ProofAppliance, progress: (line: string) => void) {
  const { appliance } = installed;
  progress("a job, a chat endpoint, and a certificate of the customer's");
  const lasting = await LastingJob.wait(appliance, installed.folder("lasting"));
  const digits = await installed.workstation("digits");
  const chat = await ChatDeployment.make(appliance, installed.folder("chat"), { slots: 2 });
  await chat.deploy();
  const said = await chat.answer();
  const pki = new CustomersPki(installed.folder("pki"));
  const use = broughtBy(pki);
  await appliance.command(["certificates", "use", ...use, "--check-only"]);
  const checkedOnly = await doorsOf(appliance, pki);

  const steps = [];
  const all: Step[] = [
    { name: "use", customers: true, words: ["certificates", "use", ...use] },
    { name: "restart", customers: true, words: ["restart"] },
    { name: "rotate", customers: true, words: ["certificates", "rotate"] },
    { name: "own", customers: false, words: ["certificates", "use", "--own"] },
  ];
  for (const { name, customers, words } of all) {
    progress(name);
    const from = performance.now();
    await appliance.command(words);
    await untilHealthy(appliance);
    const seconds = Math.round((performance.now() - from) / 1_000);
    const doors = await doorsOf(appliance, pki);
    const endpoint = (await chat.answer()) === said;
    const job = await digits.submit(() => undefined, ["--rounds", ROUNDS, "--name", name]);
    steps.push({ name, customers, seconds, doors, endpoint, job: job.state });
    progress(`  ${JSON.stringify(steps.at(-1))}`);
  }
  const audit = await verifyLife(installed);
  return { steps, checked_only: checkedOnly, lasting: await lasting.state(), audit };
}

/** As `certificates use` takes them. */
function broughtBy(pki: CustomersPki): string[] {
  const { cert, key } = pki.leaf({ names: `DNS:${NAME},IP:${ADDRESS}` });
  const files = { cert: `${cert}${pki.intermediate}`, key, ca: pki.ca };
  return Object.entries(files).flatMap(([option, text]) => {
    const file = pki.file(`brought.${option}`);
    writeFileSync(file, text, { mode: 0o600 });
    return [`--${option}`, file];
  });
}

async function doorsOf(appliance: LocalAppliance, pki: CustomersPki): Promise<Shown[]> {
  const { ports } = JSON.parse(
    readFileSync(join(appliance.root, "etc", "appliance.json"), "utf8"),
  ) as { ports: Record<(typeof DOORS)[number], number> };
  const own = readFileSync(join(appliance.root, "etc", "ca", "root.crt"), "utf8");
  const shown: Shown[] = [];
  for (const door of DOORS) {
    const isCustomers = await isTrusted(ports[door], pki.ca);
    const isOwn = await isTrusted(ports[door], own);
    shown.push(isCustomers === isOwn ? "neither" : isCustomers ? "customer" : "own");
  }
  return shown;
}

async function isTrusted(port: number, ca: string): Promise<boolean> {
  const socket = connect({ host: ADDRESS, port, servername: NAME, ca });
  try {
    await once(socket, "secureConnect");
    return socket.authorized;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
