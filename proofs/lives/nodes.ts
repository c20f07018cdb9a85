/**
 * An appliance and two hosts, each a network namespace, that become nodes by what `appliance node add` hands over: one by the printed command, which
 * is killed again and again on its way, one by a folder on a medium. A job over all three; then both leave while a job runs on them.
 *
 * `npm run prove -- nodes`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { HostsEntry } from "@resontech/house/hosts-entry";
import { emptyFolder, type JoinedNode, type JoinReport } from "@resontech/house/joined-node";
import { NetworkNamespace } from "@resontech/house/network-namespace";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";
import { hostsToJoin } from "./life/hosts-to-join.ts";
import { LastingJob } from "./life/lasting-job.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";

const HOME = "proof-node";
const NODES = ["other-1", "other-2"] as const;
const CPU_WORKERS = 2;
/** On the way of a join: verifying, laying down, joining, starting. */
const KILLS_MS = [400, 1_500, 3_000, 5_000, 8_000];
const ROUNDS = 24;
const JOB_LIMIT_MS = 300_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using first = NetworkNamespace.make();
  using second = NetworkNamespace.make();
  const perimeter = { name: "nodes.test", address: first.hostAddress };
  using _ = new HostsEntry(perimeter.name, perimeter.address);
  const installed = await ProofAppliance.install(progress, undefined, {
    perimeter,
    cpuWorkers: CPU_WORKERS,
  });
  const { lived: figures, left: leftHere } = await liveAndUninstall(installed, async () => {
    const hosts = hostsToJoin(
      installed.appliance,
      [first, second],
      { nodes: NODES, cpuWorkers: CPU_WORKERS },
      progress,
    );
    await using one = hosts[0];
    await using two = hosts[1];
    return await run(installed, one, two, progress);
  });
  const left = [...figures.left, ...leftHere];
  const { joins, three, moved } = figures;
  return {
    ok:
      joins.killed.length === KILLS_MS.length &&
      [joins.one, joins.again, joins.two].every(
        ({ tried, good }) => tried === CPU_WORKERS && good === CPU_WORKERS,
      ) &&
      !joins.again.is_new &&
      joins.again.fetched === 0 &&
      three.state === "FINISHED" &&
      three.nodes.length === 3 &&
      moved.state === "FINISHED" &&
      moved.nodes.join() === NODES.join() &&
      moved.registered.join() === HOME &&
      left.length === 0,
    figures: { ...figures, left },
  };
}

async function run(
  installed: ProofAppliance,
  one: JoinedNode,
  two: JoinedNode,
  progress: (line: string) => void,
) {
  const { appliance } = installed;
  const database = join(appliance.root, "data", "coordinator", "coordinator.db");
  progress(`${one.node} joins by the printed command, killed ${KILLS_MS.length} times on its way`);
  let added = await one.add();
  const killed: { afterMs: number; hadEnded: boolean }[] = [];
  for (const afterMs of KILLS_MS)
    killed.push({ afterMs, hadEnded: await one.joinKilled(added, afterMs) });
  const from = Date.now();
  const joinedOne = await one.join(added).catch(async (error: unknown) => {
    // Killed between the two ends of the exchange, the token is used up and its certificate lost.
    if (!String(error).includes("join_token_invalid")) throw error;
    added = await one.add();
    return await one.join(added);
  });
  const again = await one.join(added);
  progress(`${two.node} joins by a folder on a medium`);
  const medium = emptyFolder(installed.folder("medium"));
  const joinedTwo = await two.join(await two.add(medium), medium);
  const joinSeconds = Number(((Date.now() - from) / 1000).toFixed(1));

  progress("a job over the three nodes");
  const digits = await installed.workstation("digits");
  await digits.python([
    "-c",
    "import shutil; shutil.copy('/work/shards/site-2.zip', '/work/shards/site-3.zip')",
  ]);
  const workers = [HOME, one.node, two.node].map((node) => `${node}-0`);
  const spread = await digits.submit(
    (line) => progress(`  ${line}`),
    [...["--rounds", "3", "--name", "three", "--workers", workers.join(",")]],
  );
  const three = { state: spread.state, nodes: nodesOf(database, spread.id) };

  progress("a job whose node leaves at once, and whose next node leaves after it");
  await appliance.command(["node", "drain", HOME]);
  await appliance.command(["node", "drain", two.node]);
  await digits.python(["-c", "import os; os.remove('/work/shards/site-3.zip')"]);
  const job = await LastingJob.train(
    appliance,
    digits,
    { name: "moved", rounds: ROUNDS },
    progress,
  );
  await untilRunning(database, job.id, one.node);
  await appliance.command(["node", "undrain", two.node]);
  const removeFrom = Date.now();
  await appliance.command(["node", "remove", one.node, "--now", "--json"]);
  const evictSeconds = Number(((Date.now() - removeFrom) / 1000).toFixed(1));
  await untilRunning(database, job.id, two.node);
  await appliance.command(["node", "remove", two.node, "--json"]);
  const ended = await job.untilEnded(JOB_LIMIT_MS);
  const registered = (
    JSON.parse(await appliance.command(["node", "ls", "--json"])) as { node: string }[]
  ).map(({ node }) => node);
  return {
    joins: {
      killed,
      one: figuresOf(joinedOne),
      again: figuresOf(again),
      two: figuresOf(joinedTwo),
      seconds: joinSeconds,
    },
    three,
    moved: {
      state: ended.status,
      nodes: nodesOf(database, job.id),
      evict_s: evictSeconds,
      registered,
    },
    left: [...(await one.leave()), ...(await two.leave())],
  };
}

function figuresOf({ isNew, fetched, workers }: JoinReport) {
  const good = workers.filter(({ isGood }) => isGood).length;
  const tried = workers.filter(({ image }) => image !== null).length;
  return { is_new: isNew, fetched, tried, good };
}

async function untilRunning(database: string, job: string, node: string): Promise<void> {
  for (const from = Date.now(); Date.now() - from < JOB_LIMIT_MS; await sleep(200)) {
    using opened = disposable(database);
    const running = opened.db
      .prepare<[string, string], number>(
        `SELECT count(*) FROM members JOIN jobs ON jobs.id = members.job_id
         WHERE jobs.id = ? AND jobs.state = 'RUNNING' AND node_id = ? AND members.state = 'RUNNING'`,
      )
      .pluck()
      .get(job, node);
    if ((running ?? 0) > 0) return;
  }
  throw new Error(`the job does not run on ${node} after ${JOB_LIMIT_MS} ms`);
}

function nodesOf(database: string, job: string): string[] {
  using opened = disposable(database);
  return opened.db
    .prepare<[string], string>(
      "SELECT DISTINCT node_id FROM members WHERE job_id = ? ORDER BY node_id",
    )
    .pluck()
    .all(job);
}

function disposable(file: string) {
  const db = new Database(file, { readonly: true });
  return { db, [Symbol.dispose]: () => void db.close() };
}
