/**
 * An appliance and two more hosts, each a network namespace, brought a newer release and back: the appliance first, then its nodes, while one of them is away
 * and a federated job runs over the others. The node that was away brings the release by itself when it is back.
 *
 * `npm run prove -- upgrade-nodes`
 */
import { execFileSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HostsEntry } from "@resontech/house/hosts-entry";
import type { BundleSummary, LocalAppliance } from "@resontech/house/local-appliance";
import { NetworkNamespace } from "@resontech/house/network-namespace";
import { isVerified } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";
import { hostsToJoin } from "./life/hosts-to-join.ts";
import { isUntouched, LastingJob } from "./life/lasting-job.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { TestReleases } from "./life/test-releases.ts";
import { verifyLife } from "./life/verify-life.ts";

const HOME = "proof-node";
const NODES = ["other-1", "other-2"] as const;
const CPU_WORKERS = 2;
const ROUNDS = 200;
const JOB_LIMIT_MS = 900_000;
/** A node that hears nothing for so long is away. */
const AWAY_MS = 60_000;
const CATCH_UP_MS = 180_000;
const LOOK_MS = 1_000;
const SILENT_S = 20;

type Bundles = { older: BundleSummary; newer: BundleSummary };
/** As far as `appliance node ls --json` is read here. */
type Listed = { node: string; release: string | null; silentS: number | null };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using near = NetworkNamespace.make();
  using far = NetworkNamespace.make();
  const perimeter = { name: "nodes.test", address: near.hostAddress };
  using _ = new HostsEntry(perimeter.name, perimeter.address);
  using releases = new TestReleases();
  progress("building two releases");
  const bundles = {
    older: await releases.ofThis("older", { version: "0.1.0", releaseNumber: 1 }),
    newer: await releases.ofThis("newer", { version: "0.2.0", releaseNumber: 2 }),
  };
  const installed = await ProofAppliance.install(progress, bundles.older, {
    ...{ perimeter, cpuWorkers: CPU_WORKERS },
  });
  const { lived, left: leftHere } = await liveAndUninstall(installed, async () => {
    const hosts = hostsToJoin(
      installed.appliance,
      [near, far],
      { nodes: NODES, cpuWorkers: CPU_WORKERS },
      progress,
    );
    await using one = hosts[0];
    await using two = hosts[1];
    for (const host of hosts) await host.join(await host.add());
    const told = await live(installed, bundles, far, progress);
    return { ...told, left: [...(await one.leave()), ...(await two.leave())] };
  });
  const left = [...lived.left, ...leftHere];
  const { job, up, down, audit } = lived;
  return {
    ok:
      isUntouched({ ...job, status: job.state }, "FINISHED") &&
      up.while_away.join() === NODES[0] &&
      up.when_back.join() === NODES.join() &&
      down.nodes.join() === NODES.join() &&
      isVerified(audit) &&
      left.length === 0,
    figures: { ...lived, left },
  };
}

async function live(
  installed: ProofAppliance,
  { older, newer }: Bundles,
  far: NetworkNamespace,
  progress: (line: string) => void,
) {
  const { appliance } = installed;
  progress(`a job over ${HOME} and ${NODES[0]}, for as long as all of it takes`);
  const digits = await installed.workstation("digits");
  const workers = [HOME, NODES[0]].map((node) => `${node}-0`);
  const job = await LastingJob.train(appliance, digits, { rounds: ROUNDS, workers }, progress);
  progress(`${NODES[1]} is cut off`);
  execFileSync("ip", ["link", "set", far.name, "down"]);
  await until(appliance, AWAY_MS, (nodes) =>
    nodes.some((one) => one.node === NODES[1] && !isThere(one)),
  );

  progress("the appliance is upgraded, then its nodes");
  const upS = await timed(() => appliance.upgrade(newer.bundle));
  const release = releaseOf(appliance);
  const nodesS = await timed(() => appliance.command(["node", "upgrade", "--all"]));
  const whileAway = await nodesOn(appliance, release);
  progress(`  ${whileAway.join(", ")} in ${nodesS} s; ${NODES[1]} comes back`);
  execFileSync("ip", ["link", "set", far.name, "up"]);
  const caughtUpS = await timed(() =>
    until(appliance, CATCH_UP_MS, (nodes) =>
      nodes.every((one) => one.node === HOME || (one.release === release && isThere(one))),
    ),
  );
  const whenBack = await nodesOn(appliance, release);
  progress(`  ${whenBack.join(", ")} after ${caughtUpS} s`);

  progress("and back again");
  const backS = await timed(() => appliance.command(["rollback", "--yes"]));
  const earlier = releaseOf(appliance);
  const nodesBackS = await timed(() => appliance.command(["node", "upgrade", "--all"]));
  const down = { seconds: backS, nodes_s: nodesBackS, nodes: await nodesOn(appliance, earlier) };

  progress("the job to its end");
  const ended = await job.untilEnded(JOB_LIMIT_MS);
  return {
    up: {
      ...{ seconds: upS, nodes_s: nodesS, while_away: whileAway },
      ...{ caught_up_s: caughtUpS, when_back: whenBack },
    },
    down,
    job: { state: ended.status, attempt: ended.detail.attempt, rounds: ROUNDS },
    audit: await verifyLife(installed, [older, newer]),
  };
}

async function listed(appliance: LocalAppliance): Promise<Listed[]> {
  return JSON.parse(await appliance.command(["node", "ls", "--json"])) as Listed[];
}

function releaseOf({ root }: LocalAppliance): string {
  return basename(readlinkSync(join(root, "current")));
}

function isThere({ silentS }: Listed): boolean {
  return silentS !== null && silentS < SILENT_S;
}

/** Joined nodes that are there with this release. */
async function nodesOn(appliance: LocalAppliance, release: string): Promise<string[]> {
  return (await listed(appliance))
    .filter((one) => one.node !== HOME && one.release === release && isThere(one))
    .map(({ node }) => node)
    .toSorted();
}

async function until(
  appliance: LocalAppliance,
  limitMs: number,
  holds: (nodes: Listed[]) => boolean,
): Promise<void> {
  for (const end = Date.now() + limitMs; !holds(await listed(appliance)); await sleep(LOOK_MS))
    if (Date.now() > end)
      throw new Error(`it did not come to that: ${JSON.stringify(await listed(appliance))}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = Date.now();
  await work();
  return Math.round((Date.now() - from) / 100) / 10;
}
