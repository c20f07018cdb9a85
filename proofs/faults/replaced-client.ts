/**
 * A federated client that is lost for good while the others carry the quorum, on an installed appliance of two nodes: the second node, which holds
 * one of three sites, is killed and cut off. The attempt must go on, a client of the same site be begun on the first node and take part in
 * later rounds, and the job end FINISHED in its first attempt.
 *
 * `npm run prove -- replaced-client`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { runningMembers } from "@resontech/house/member-containers";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import { HostsEntry } from "@resontech/house/hosts-entry";
import { NetworkNamespace } from "@resontech/house/network-namespace";
import { SecondNode } from "@resontech/house/second-node";
import { isVerified } from "@resontech/house/verify-audit";
import type { ProofContext, ProofResult } from "../proof.ts";
import type { Harm, JobEnd } from "./harms/harm.ts";
import { HarmedJobs } from "./harms/harmed-jobs.ts";
import { isByLease, type LeaseDeath, untilDead } from "./judge/lease-death.ts";

const HOME = "proof-node";
const NODE = "z-node";
/** It takes one of the first node's three workers until the other job lies on both nodes. */
const BLOCKER = { rounds: 4, ticks: 10, sites: 1, workers: [`${HOME}-0`] };
const JOB = { rounds: 24, ticks: 10, sites: 3, quorum: 2 };
const READY_LIMIT_MS = 60_000;
const JOB_LIMIT_MS = 400_000;

type Db = ReturnType<RecordedJobs["open"]>;
type Replaced = { lost: string; death: LeaseDeath; replacedAfterS: number };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using namespace = NetworkNamespace.make();
  const perimeter = { name: "replaced-client.test", address: namespace.hostAddress };
  using _ = new HostsEntry(perimeter.name, perimeter.address);
  await using installed = await ProofAppliance.install(progress, undefined, {
    perimeter,
    cpuWorkers: 3,
  });
  const { appliance } = installed;
  const folder = installed.folder("node");
  await using second = await SecondNode.start({
    appliance,
    namespace,
    node: NODE,
    cpuWorkers: 1,
    folder,
  });
  await using harmed = await HarmedJobs.open(installed, progress, {
    ...{ limitMs: JOB_LIMIT_MS, isWatched: true },
  });
  const loss = lossOf(harmed, { namespace, second }, progress);
  const { end, seen, isGood } = await harmed.through(loss);
  const left = await harmed.leftBehind(() => second.untilNothingIsLeft());
  const audit = await harmed.verify();
  return {
    ok: isGood && left.length === 0 && isVerified(audit),
    figures: {
      ...{ state: end.state, attempts: end.attempts, lost: seen.lost },
      replaced_after_s: Number(seen.replacedAfterS.toFixed(1)),
      ...seen.death,
      rounds_of_its_processes: roundsOf(end, seen.lost),
      ...{ doubles: end.doubles, overlaps: end.overlaps, wrong_models: end.wrongModels },
      ...{ left, audit },
    },
  };
}

/** The second node, with its one site, is killed and cut off for good. */
function lossOf(
  { jobs, api }: HarmedJobs,
  { namespace, second }: { namespace: NetworkNamespace; second: SecondNode },
  progress: (line: string) => void,
): Harm<Replaced> {
  let blocker = "";
  return {
    name: "replaced",
    job: JOB,
    ready: async () => {
      await jobs.until("both nodes ready", (db) => readyWorkers(db) === 4, READY_LIMIT_MS);
      blocker = await jobs.submit("blocker", BLOCKER);
      await jobs.untilRound(blocker, 0);
    },
    happen: async (job, toItsEnd) => {
      await jobs.untilCommitted(job, 0);
      const [lost] = sitesOn(jobs, job, NODE);
      if (lost === undefined) throw new Error(`no site of ${job} runs on ${NODE}`);
      progress(`${lost} runs on ${NODE}; the other job's end gives a worker of ${HOME} back`);
      await api.untilEnded(blocker, JOB_LIMIT_MS);

      const node = { socket: second.engine.socket, instance: second.config.instance };
      const cutOff = runningMembers(node.socket);
      const from = Date.now();
      progress(`${NODE} is killed and cut off`);
      namespace.setLink("down");
      await second.kill();
      const death = await untilDead(node, cutOff, from, JOB_LIMIT_MS);
      progress(
        `${lost} is dead after ${death.deadAfterS} s (lease over after ${death.leaseEndsAfterS}, exit code ${death.exitCodes.join()})`,
      );
      await jobs.until(
        `${lost} on ${HOME}`,
        () => sitesOn(jobs, job, HOME).includes(lost),
        JOB_LIMIT_MS,
      );
      const replacedAfterS = (Date.now() - from) / 1000;
      progress(`a new ${lost} is begun on ${HOME} after ${replacedAfterS.toFixed(1)} s`);
      await toItsEnd();
      namespace.setLink("up");
      await second.rejoin();
      await sleep(1_000);
      return { lost, death, replacedAfterS };
    },
    holds: (end, { lost, death, replacedAfterS }) => {
      const rounds = roundsOf(end, lost);
      return (
        end.attempts === 1 &&
        rounds.length === 2 &&
        (rounds[1]?.length ?? 0) > 0 &&
        // One site of three: the others' quorum goes on meanwhile, so that nothing but its lease ends it.
        isByLease(death, 1) &&
        replacedAfterS > death.deadAfterS
      );
    },
    tell: ({ state, attempts }) => `${state} after ${attempts} attempt`,
  };
}

/** Rounds in which each process of the site took part. */
function roundsOf({ instances }: JobEnd, of: string): number[][] {
  return instances.filter(({ site }) => site === of).map(({ rounds }) => rounds);
}

function readyWorkers(db: Db): number {
  const asked =
    "SELECT count(*) FROM workers JOIN nodes ON nodes.id = node_id WHERE state = 'READY' AND is_present = 1";
  return db.prepare<[], number>(asked).pluck().get() ?? 0;
}

/** Sites of a job that have a member on a node which has not let go. */
function sitesOn(jobs: RecordedJobs, job: string, node: string): string[] {
  const db = jobs.open();
  try {
    const asked = `SELECT site FROM members WHERE job_id = ? AND node_id = ? AND site IS NOT NULL
      AND state NOT IN ('RELEASED', 'QUARANTINED') ORDER BY site`;
    return db.prepare<[string, string], string>(asked).pluck().all(job, node);
  } finally {
    db.close();
  }
}
