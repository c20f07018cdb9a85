/**
 * One appliance and a second node, in a network namespace of its own with a container engine of its own: the digits job over both, the
 * same through a kill -9 of the second node's agent, and a job that looks for a way out of its network on either node.
 *
 * `npm run prove -- two-nodes`
 */
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { HostsEntry } from "../dev/hosts-entry.ts";
import { leftovers, untilNothingIsLeft } from "../dev/leftovers.ts";
import { NetworkNamespace } from "../dev/network-namespace.ts";
import { SecondNode } from "../dev/second-node.ts";
import { Api } from "./appliance/api.ts";
import { ProofAppliance } from "./appliance/proof-appliance.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const NODE = "other-node";
/** TEST-NET-3 of RFC 5737. */
const PUBLIC = "203.0.113.1";
const READY_LIMIT_MS = 60_000;
const JOB_LIMIT_MS = 180_000;
const KILL_AFTER_MS = 3_000;

type Placed = { attempts: number; bridge: string; members: Record<string, string[]> };
type Found = { gateways: string[]; dialled: number; connected: string[]; results: Record<string, number> };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using namespace = NetworkNamespace.make();
  const perimeter = { name: "two-nodes.test", address: namespace.hostAddress };
  using _ = new HostsEntry(perimeter.name, perimeter.address);
  await using installed = await ProofAppliance.install(progress, undefined, { perimeter, cpuWorkers: 1 });
  const { appliance } = installed;
  progress(`${NODE} joins from ${namespace.address}`);
  const folder = installed.folder("node");
  await using second = await SecondNode.start({ appliance, namespace, node: NODE, cpuWorkers: 1, folder });
  const api = new Api(appliance);
  try {
    const database = join(appliance.root, "data", "coordinator", "coordinator.db");
    await untilReady(database);
    const digits = await installed.workstation("digits");

    progress("the digits job over both nodes");
    const job = await digits.submit((line) => progress(`  ${line}`));
    const heldOut = await digits.evaluate();
    const placed = placementOf(database, job.id);

    progress("the same with eight rounds, and a kill -9 of the second node's agent in the middle");
    const script = [
      "/example/submit.py",
      "--shards",
      "/work/shards",
      "--out",
      "/work",
      "--rounds",
      "8",
      "--name",
      "killed",
      "--detach",
    ];
    const killed = String((await digits.events(script)).at(-1)?.["id"]);
    for (const from = Date.now(); stateOf(database, killed) !== "RUNNING" && Date.now() - from < JOB_LIMIT_MS; ) await sleep(100);
    await sleep(KILL_AFTER_MS);
    const stateAtKill = stateOf(database, killed);
    await second.kill();
    second.run();
    const survived = await api.untilEnded(killed, JOB_LIMIT_MS);

    progress("a job that dials every listening port of its gateway, and a public address");
    const ports = listening(namespace);
    const own = Object.values(networkInterfaces())
      .flatMap((faces) => faces ?? [])
      .filter(({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith("198.18."));
    const hosts = [...new Set([namespace.address, ...own.map(({ address }) => address)])];
    const asked = {
      hosts,
      ports,
      elsewhere: [
        [PUBLIC, 443],
        [PUBLIC, 80],
        [PUBLIC, 53],
      ],
    };
    const dialling = await installed.workstation("dialling", join(import.meta.dirname, "two-nodes"));
    const last = (await dialling.events(["/example/submit.py", JSON.stringify(asked)])).at(-1) ?? {};
    const dialled = placementOf(database, String(last["id"]));
    const found = last["found"] as Record<string, Found>;
    const byNode = Object.fromEntries(
      Object.entries(dialled.members).map(([node, members]) => [
        node,
        { members, ...(found[members.find((member) => member.startsWith("site-")) ?? ""] ?? {}) },
      ]),
    );
    const [home = "", port = ""] = dialled.bridge.split(":");
    // Beside the server there is no opening at all; elsewhere it is the one through which the server was reached.
    const isClosed = Object.entries(dialled.members).every(([node, members]) => {
      const site = found[members.find((member) => member.startsWith("site-")) ?? ""];
      const allowed = node === home ? [] : [`gateway:${port}`];
      return site !== undefined && site.dialled > ports.length && site.connected.join() === allowed.join();
    });

    await untilNothingIsLeft(appliance);
    const left = [...leftovers(appliance), ...(await second.leftovers())];
    return {
      ok:
        job.state === "FINISHED" &&
        isSpread(placed) &&
        (job.accuracyByRound.at(-1) ?? 0) > (job.accuracyByRound[0] ?? 1) &&
        survived.status === "FINISHED" &&
        stateAtKill === "RUNNING" &&
        last["state"] === "FINISHED" &&
        isSpread(dialled) &&
        isClosed &&
        left.length === 0,
      figures: {
        digits: {
          state: job.state,
          seconds: Number(job.seconds.toFixed(1)),
          accuracy_by_round: job.accuracyByRound,
          held_out: heldOut,
          ...placed,
        },
        agent_killed: { at: stateAtKill, state: survived.status, ...placementOf(database, killed) },
        way_out: { state: last["state"], bridge: dialled.bridge, ports: ports.length, by_node: byNode },
        left,
      },
    };
  } finally {
    api.close();
  }
}

async function untilReady(database: string): Promise<void> {
  for (const from = Date.now(); Date.now() - from < READY_LIMIT_MS; await sleep(500)) {
    using opened = disposable(database);
    const state = opened.db.prepare<[string], string>("SELECT state FROM nodes WHERE id = ?").pluck().get(NODE);
    if (state === "READY") return;
  }
  throw new Error(`${NODE} offers no worker after ${READY_LIMIT_MS} ms`);
}

/** Ports that anybody listens on, on this machine or in the namespace, and the first of those for jobs. */
function listening(namespace: NetworkNamespace): number[] {
  const here = execFileSync("ss", ["-Hltn"], { encoding: "utf8" }).matchAll(/:(\d+)\s+\S+:\*/g);
  const there = namespace.listening().map(({ port }) => port);
  const jobs = [30_200, 30_201, 30_202];
  return [...new Set([...[...here].map(([, port]) => Number(port)), ...there, ...jobs, 22, 53, 80])].sort((a, b) => a - b);
}

function isSpread({ members }: Placed): boolean {
  const nodes = Object.values(members);
  return nodes.length === 2 && nodes.every((of) => of.some((member) => member.startsWith("site-")));
}

function stateOf(database: string, job: string): string {
  using opened = disposable(database);
  return opened.db.prepare<[string], string>("SELECT state FROM jobs WHERE id = ?").pluck().get(job) ?? "";
}

function placementOf(database: string, job: string): Placed {
  using opened = disposable(database);
  const rows = opened.db
    .prepare<[string], { node_id: string; role: string; site: string | null; bridge: string | null; number: number }>(
      `SELECT node_id, role, site, bridge_node || ':' || bridge_port AS bridge, number FROM members
       JOIN attempts ON attempts.id = attempt_id WHERE members.job_id = ? ORDER BY number DESC, role DESC, site`,
    )
    .all(job);
  const last = rows.filter(({ number }) => number === rows[0]?.number);
  const byNode = Map.groupBy(last, ({ node_id }) => node_id);
  return {
    attempts: rows[0]?.number ?? 0,
    bridge: rows[0]?.bridge ?? "",
    members: Object.fromEntries([...byNode].map(([node, of]) => [node, of.map(({ role, site }) => site ?? role)])),
  };
}

function disposable(file: string) {
  const db = new Database(file, { readonly: true });
  return { db, [Symbol.dispose]: () => void db.close() };
}
