/**
 * One life of a coordinator's kernel, of the release whose sources lie in TREE: it opens a database that another release left, takes a federated job
 * that lives in it to its end, begins another one, and leaves the file. Runs in a process of its own, because a process has one set of modules.
 *
 * `node proofs/lives/older-programs/step.ts TREE FILE FINISH BEGIN AT`: FINISH and BEGIN are names of jobs, or `-`; AT is the clock in milliseconds.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KernelWorld as KernelWorldOfToday } from "@resontech/coordinator/testing/kernel-world";
import type { SimAgent as SimAgentOfToday } from "@resontech/coordinator/testing/sim-agent";

type WorldModule = { KernelWorld: typeof KernelWorldOfToday };
type AgentModule = { SimAgent: typeof SimAgentOfToday };
type Held = SimAgentOfToday["held"];

/** What the agent of the node holds, which outlives the coordinator. */
type Kept = { held: [string, unknown][]; jobs: [name: string, id: string][] };
export type Seen = {
  /** As this release lists them, by name. */
  listed: Record<string, { state: string; attempt: number; members: number }>;
  errors: string[];
};

const NODE = "node-a";
const WORKERS = 4;
/** Up to the first round. */
const SERVER_STARTS = 6;
const CLIENT_STARTS = 4;
const STEPS = 12;

const [tree = "", file = "", finish = "-", begin = "-", at = "0"] = process.argv.slice(2);
/** Releases before 0.2 have the coordinator at the root. */
const kernelTests = ["parts/coordinator/test/kernel", "coordinator/test/kernel"]
  .map((folder) => join(tree, folder))
  .find((folder) => existsSync(folder));
const ofTree = (name: string): Promise<unknown> => import(join(kernelTests ?? tree, name));
// Each release has these two under these names; what the steps below use of them is the same in all.
const { KernelWorld } = (await ofTree("kernel-world.ts")) as WorldModule;
const { SimAgent } = (await ofTree("sim-agent.ts")) as AgentModule;

const keptFile = `${file}.kept.json`;
const kept: Kept = existsSync(keptFile)
  ? (JSON.parse(readFileSync(keptFile, "utf8")) as Kept)
  : { held: [], jobs: [] };
const jobs = new Map(kept.jobs);

const world = new KernelWorld();
world.nowMs = Number(at);
const isNew = !existsSync(file);
if (!isNew) {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${world.file}${suffix}`, { force: true });
  copyFileSync(file, world.file);
  // It opens what is there now, as a start does.
  world.crash();
}
const { kernel, scheduler, db } = world.parts;
if (isNew) world.admit(NODE);
const agent = new SimAgent(world, NODE, WORKERS);
// Names of reports and numbers; what is desired is fetched again in this release's form.
agent.held = new Map(kept.held) as Held;
await agent.register();
await agent.fetch();

if (finish !== "-") {
  for (let member = 0; member < agent.held.size; member++) agent.advance(member, null, STEPS);
  await sendAll();
  await agent.fetch();
  agent.finishClients();
  await sendAll();
}
if (begin !== "-") {
  const { id } = await kernel.submit(world.task(begin));
  jobs.set(begin, id);
  await scheduler.cycle();
  await agent.fetch();
  for (let member = 0; member < agent.held.size; member++)
    agent.advance(member, null, member === 0 ? SERVER_STARTS : CLIENT_STARTS);
  await sendAll();
}

const listed = [...jobs].map(([name, id]) => {
  const { state, attempt, members } = kernel.job(id)!;
  return [name, { state, attempt, members: members.length }] as const;
});
const seen: Seen = { listed: Object.fromEntries(listed), errors: world.errors.map(String) };
rmSync(`${file}.next`, { force: true });
db.prepare("VACUUM INTO ?").run(`${file}.next`);
renameSync(`${file}.next`, file);
writeFileSync(keptFile, JSON.stringify({ held: [...agent.held], jobs: [...jobs] } satisfies Kept));
world[Symbol.dispose]();
process.stdout.write(`${JSON.stringify(seen)}\n`);

/** Each answer may make room for what comes behind it. */
async function sendAll(): Promise<void> {
  for (let time = 0; time < STEPS; time++) await agent.send();
}
