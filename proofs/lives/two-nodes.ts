/**
 * One appliance and a second node, in a network namespace of its own with a container engine of its own: the digits job on one and over
 * both, the same through a kill -9 of both agents, and a job that looks for a way out of its network on either node.
 *
 * `npm run prove -- two-nodes`
 */
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { execFileSync, spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { HostsEntry } from "@resontech/house/hosts-entry";
import { leftovers, untilNothingIsLeft } from "@resontech/house/leftovers";
import { NetworkNamespace } from "@resontech/house/network-namespace";
import { SecondNode } from "@resontech/house/second-node";
import type { JobOutcome } from "@resontech/house/workstation";
import { readJobTimes } from "../bench/measure/job-times.ts";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { doublesOf } from "../faults/judge/doubles.ts";
import { LivingContainers } from "../faults/watch/living-containers.ts";
import { quantile } from "../statistics.ts";
import { dial } from "./network/dial.ts";
import { LastingJob } from "./life/lasting-job.ts";
import { Outside } from "./network/outside.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const HOME = "proof-node";
const NODE = "other-node";
const SPREAD = [`${HOME}-0`, `${NODE}-0`];
/** As many on either node: a worker with two processors adds up in another order than one with one, and learns other last digits. */
const CPU_WORKERS = 2;
const PUBLIC_PORTS = [443, 80, 53];
/** What a container without a route is told of every address but its gateway's. */
const NO_ROUTE = "Network is unreachable";
const ROUNDS = 8;
const READY_LIMIT_MS = 60_000;
const JOB_LIMIT_MS = 180_000;
const KILL_AFTER_MS = 3_000;

type Placed = { attempts: number; bridge: string | null; members: Record<string, string[]> };
type Ran = { job: JobOutcome; models: string[]; heldOut: number; placed: Placed; roundS: number };
type Found = {
  gateways: string[];
  dialled: number;
  connected: string[];
  results: Record<string, number>;
};

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using namespace = NetworkNamespace.make();
  const perimeter = { name: "two-nodes.test", address: namespace.hostAddress };
  using _ = new HostsEntry(perimeter.name, perimeter.address);
  await using installed = await ProofAppliance.install(progress, undefined, {
    perimeter,
    cpuWorkers: CPU_WORKERS,
  });
  const { appliance } = installed;
  progress(`${NODE} joins from ${namespace.address}`);
  const folder = installed.folder("node");
  await using second = await SecondNode.start({
    appliance,
    namespace,
    node: NODE,
    cpuWorkers: CPU_WORKERS,
    folder,
  });
  await using living = new LivingContainers();
  const database = join(appliance.root, "data", "coordinator", "coordinator.db");
  await untilReady(database);
  const digits = await installed.workstation("digits");

  const run = async (name: string, workers: readonly string[]): Promise<Ran> => {
    const more = ["--rounds", String(ROUNDS), "--name", name, "--workers", workers.join(",")];
    const job = await digits.submit((line) => progress(`  ${line}`), more);
    const { roundsS } = await readJobTimes(appliance, digits, job.id, `jobs/${name}`);
    return {
      job,
      models: modelsOf(database, job.id),
      heldOut: await digits.evaluate(),
      placed: placementOf(database, job.id),
      roundS: quantile(roundsS.slice(1), 0.5),
    };
  };
  progress("the digits job on one node");
  const one = await run("one-node", [`${HOME}-0`, `${HOME}-1`]);
  progress("the digits job over both nodes");
  const two = await run("two-nodes", SPREAD);

  progress(
    "the same with more rounds, and kill -9 of both agents in the middle, one after the other",
  );
  const job = await LastingJob.train(
    appliance,
    digits,
    { name: "killed", rounds: 24, workers: SPREAD },
    progress,
  );
  const killed = job.id;
  for (
    const from = Date.now();
    stateOf(database, killed) !== "RUNNING" && Date.now() - from < JOB_LIMIT_MS;
  )
    await sleep(100);
  await sleep(KILL_AFTER_MS);
  const statesAtKill = [stateOf(database, killed)];
  await second.kill();
  second.run();
  await sleep(KILL_AFTER_MS);
  statesAtKill.push(stateOf(database, killed));
  process.kill(appliance.status().parts.find(({ name }) => name === "agent")?.pid ?? 0, "SIGKILL");
  const survived = await job.untilEnded(JOB_LIMIT_MS);

  progress("a job that dials every listening port of its gateway, and a public address");
  using outside = await Outside.start(PUBLIC_PORTS);
  // Whoever has a route is answered: this host, and over it the other node.
  const answered = [
    await dial({ host: outside.address, port: PUBLIC_PORTS[0] ?? 0 }),
    dialFrom(namespace, outside.address, PUBLIC_PORTS[0] ?? 0),
  ];
  const ports = listening(namespace);
  const own = Object.values(networkInterfaces())
    .flatMap((faces) => faces ?? [])
    .filter(
      ({ family, internal, address }) =>
        family === "IPv4" && !internal && !address.startsWith("198.18."),
    );
  const hosts = [...new Set([namespace.address, ...own.map(({ address }) => address)])];
  const asked = { hosts, ports, elsewhere: PUBLIC_PORTS.map((port) => [outside.address, port]) };
  const dialling = await installed.workstation("dialling", join(import.meta.dirname, "two-nodes"));
  const last =
    (await dialling.events(["/example/submit.py", JSON.stringify(asked), SPREAD.join(",")])).at(
      -1,
    ) ?? {};
  const dialled = placementOf(database, String(last["id"]));
  const found = last["found"] as Record<string, Found>;
  const byNode = Object.fromEntries(
    Object.entries(dialled.members).map(([node, members]) => [
      node,
      { members, ...found[members.find((member) => member.startsWith("site-")) ?? ""] },
    ]),
  );
  const [home = "", port = ""] = (dialled.bridge ?? "").split(":");
  // Beside the server there is no opening at all; elsewhere it is the one through which the server was reached.
  const isClosed = Object.entries(dialled.members).every(([node, members]) => {
    const site = found[members.find((member) => member.startsWith("site-")) ?? ""];
    const allowed = node === home ? [] : [`gateway:${port}`];
    const beyond = hosts.length * ports.length + PUBLIC_PORTS.length;
    return (
      site !== undefined &&
      site.gateways.length === 1 &&
      site.dialled === ports.length + beyond &&
      site.results[NO_ROUTE] === beyond &&
      site.connected.join() === allowed.join()
    );
  });

  const seen = await living.seen();
  const rows = { open: () => new Database(database, { readonly: true }) };
  const doubles = [one.job.id, two.job.id, killed, String(last["id"])].flatMap((job) =>
    doublesOf(rows, job, seen),
  );
  await untilNothingIsLeft(appliance);
  const left = [...leftovers(appliance), ...(await second.leftovers())];
  return {
    ok:
      [one, two].every(({ job }) => job.state === "FINISHED") &&
      !isSpread(one.placed) &&
      one.placed.bridge === null &&
      isSpread(two.placed) &&
      // Where a site runs makes no difference to what is learnt, to the bit.
      one.models.length === ROUNDS &&
      two.models.join() === one.models.join() &&
      two.job.accuracyByRound.join() === one.job.accuracyByRound.join() &&
      survived.status === "FINISHED" &&
      statesAtKill.every((state) => state === "RUNNING") &&
      last["state"] === "FINISHED" &&
      isSpread(dialled) &&
      isClosed &&
      answered.every((how) => how === "connected") &&
      outside.came === answered.length &&
      doubles.length === 0 &&
      left.length === 0,
    figures: {
      one_node: figuresOf(one),
      two_nodes: figuresOf(two),
      same_models: two.models.filter((model, round) => model === one.models[round]).length,
      round_ratio: Number((two.roundS / one.roundS).toFixed(2)),
      agents_killed: {
        at: statesAtKill,
        state: survived.status,
        error: survived.detail.error,
        ...placementOf(database, killed),
      },
      way_out: {
        state: last["state"],
        bridge: dialled.bridge,
        hosts: hosts.length,
        ports: ports.length,
        public_address: { answered, came: outside.came },
        by_node: byNode,
      },
      doubles,
      left,
    },
  };
}

function figuresOf({ job, heldOut, placed, roundS }: Ran): Record<string, unknown> {
  const { state, seconds, accuracyByRound } = job;
  const learnt = { accuracy_by_round: accuracyByRound, held_out: heldOut };
  return {
    state,
    seconds: Number(seconds.toFixed(1)),
    ...learnt,
    median_round_s: Number(roundS.toFixed(3)),
    ...placed,
  };
}

async function untilReady(database: string): Promise<void> {
  for (const from = Date.now(); Date.now() - from < READY_LIMIT_MS; await sleep(500)) {
    using opened = disposable(database);
    const state = opened.db
      .prepare<[string], string>("SELECT state FROM nodes WHERE id = ?")
      .pluck()
      .get(NODE);
    if (state === "READY") return;
  }
  throw new Error(`${NODE} offers no worker after ${READY_LIMIT_MS} ms`);
}

function dialFrom(namespace: NetworkNamespace, host: string, port: number): string {
  const script = `exec 3<>/dev/tcp/${host}/${port}`;
  const { status } = spawnSync(...namespace.enter("timeout", ["3", "bash", "-c", script]));
  return status === 0 ? "connected" : "no answer";
}

/** Ports that anybody listens on, on this machine or in the namespace, and the first of those for jobs. */
function listening(namespace: NetworkNamespace): number[] {
  const here = execFileSync("ss", ["-Hltn"], { encoding: "utf8" }).matchAll(/:(\d+)\s+\S+:\*/g);
  const there = namespace.listening().map(({ port }) => port);
  const jobs = [30_200, 30_201, 30_202];
  return [
    ...new Set([...[...here].map(([, port]) => Number(port)), ...there, ...jobs, 22, 53, 80]),
  ].sort((a, b) => a - b);
}

function isSpread({ members }: Placed): boolean {
  const nodes = Object.values(members);
  return nodes.length === 2 && nodes.every((of) => of.some((member) => member.startsWith("site-")));
}

function stateOf(database: string, job: string): string {
  using opened = disposable(database);
  return (
    opened.db.prepare<[string], string>("SELECT state FROM jobs WHERE id = ?").pluck().get(job) ??
    ""
  );
}

function placementOf(database: string, job: string): Placed {
  using opened = disposable(database);
  const rows = opened.db
    .prepare<
      [string],
      { node_id: string; role: string; site: string | null; bridge: string | null; number: number }
    >(
      `SELECT node_id, role, site, bridge_node || ':' || bridge_port AS bridge, number FROM members
       JOIN attempts ON attempts.id = attempt_id WHERE members.job_id = ? ORDER BY number DESC, role DESC, site`,
    )
    .all(job);
  const last = rows.filter(({ number }) => number === rows[0]?.number);
  const byNode = Map.groupBy(last, ({ node_id }) => node_id);
  return {
    attempts: rows[0]?.number ?? 0,
    bridge: rows[0]?.bridge ?? null,
    members: Object.fromEntries(
      [...byNode].map(([node, of]) => [node, of.map(({ role, site }) => site ?? role)]),
    ),
  };
}

/** Digest of the global model after each round. */
function modelsOf(database: string, job: string): string[] {
  using opened = disposable(database);
  const query =
    "SELECT model_sha256 FROM rounds WHERE job_id = ? AND model_sha256 IS NOT NULL ORDER BY attempt_id, round";
  return opened.db.prepare<[string], string>(query).pluck().all(job);
}

function disposable(file: string) {
  const db = new Database(file, { readonly: true });
  return { db, [Symbol.dispose]: () => void db.close() };
}
