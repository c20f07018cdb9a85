/**
 * A made history of the kernel on its database: people submit and cancel, agents work and fall silent, nodes are drained, the process is killed. Each plan
 * is judged before it is done, and the rows after each event. A seed names the whole history.
 */
import { seededRandom } from "@resontech/house/seeded-random";
import { plan } from "../../../src/kernel/decisions/placement.ts";
import type { PlanRecorder } from "../../../src/kernel/plan-recorder.ts";
import { ShareLimitExceeded } from "../../../src/kernel/errors.ts";
import { KernelWorld } from "../kernel-world.ts";
import { SimAgent } from "../sim-agent.ts";
import { BrokenHistory } from "./broken-history.ts";
import { couldStart, faultsOfPlan } from "./plan-judge.ts";

const NODES = ["node-a", "node-b"];
const WORKERS = 2;
const PROJECTS = ["project-a", "project-b"];
const GATE = {
  ...{ op: "00000000-0000-4000-8000-000000000000", index: 1 },
  ...{ leafHash: "0".repeat(64), unwitnessed: false },
};
const TERMINAL = ["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "REJECTED"];
/** Turns of five seconds: the longest wait is that of a silent node's members. */
const SETTLING_TURNS = 400;

export type KernelHistoryCounts = {
  jobs: number;
  started: number;
  ended: number;
  preempted: number;
};

/** @param planRecorder notes what the scheduler plans @throws BrokenHistory with what is wrong */
export async function runKernelHistory(
  seed: number,
  events: number,
  planRecorder?: PlanRecorder,
): Promise<KernelHistoryCounts> {
  using history = new KernelHistory(seed, planRecorder);
  await history.begin();
  for (let n = 0; n < events; n += 1) await history.next();
  await history.settle();
  return history.counts();
}

class KernelHistory implements Disposable {
  readonly #world = new KernelWorld();
  readonly #seed: number;
  readonly #random: () => number;
  readonly #agents = NODES.map((node) => new SimAgent(this.#world, node, WORKERS));
  readonly #silent = new Set<SimAgent>();
  readonly #jobs: string[] = [];
  #event = "the beginning";

  constructor(seed: number, planRecorder: PlanRecorder | undefined) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.#world.planRecorder = planRecorder;
    if (planRecorder !== undefined) this.#world.crash();
  }

  [Symbol.dispose](): void {
    this.#world[Symbol.dispose]();
  }

  async begin(): Promise<void> {
    this.#world.parts.db.exec(
      "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1)",
    );
    if (this.#chance(0.7)) this.#share();
    for (const agent of this.#agents) {
      this.#world.admit(agent.node);
      await agent.register();
    }
  }

  async next(): Promise<void> {
    const at = this.#random();
    if (at < 0.3) await this.#submit();
    else if (at < 0.72) await this.#turn(this.#chance(0.1) ? "user_exception" : null);
    else if (at < 0.78) await this.#cancel();
    else if (at < 0.84) this.#cordon();
    else if (at < 0.9) await this.#fallSilent();
    else if (at < 0.95) this.#share();
    else this.#crash();
    await this.#cycle();
    this.#judgeRows();
  }

  /** All nodes answer, and nothing more comes: each job that could ever start comes to its end. */
  async settle(): Promise<void> {
    this.#event = "all was mended";
    this.#silent.clear();
    const { db } = this.#world.parts;
    db.exec("UPDATE nodes SET is_cordoned = 0; DELETE FROM shares;");
    for (let n = 0; n < SETTLING_TURNS; n += 1) {
      if (this.#open().length === 0 && this.#heldForNothing() === 0) return;
      await this.#turn(null);
      await this.#cycle();
      this.#judgeRows();
    }
    this.#break([
      ...this.#open().map((job) => `${job} never ended`),
      `${this.#heldForNothing()} workers are held by jobs that are over`,
    ]);
  }

  #heldForNothing(): number {
    return this.#world.one<number>(
      "SELECT count(*) FROM holdings JOIN jobs ON jobs.id = holdings.job_id WHERE held_until IS NULL AND ended_at IS NOT NULL",
    );
  }

  counts(): KernelHistoryCounts {
    const count = (sql: string) => this.#world.one<number>(`SELECT count(*) FROM ${sql}`);
    return {
      jobs: this.#jobs.length,
      started: count("attempts"),
      ended: count("jobs WHERE ended_at IS NOT NULL"),
      preempted: count("preemptions"),
    };
  }

  /** Jobs that are not over, and would start on the whole fleet. */
  #open(): string[] {
    const snapshot = this.#world.parts.snapshots.read();
    return this.#world
      .all<{ id: string; state: string }>("SELECT id, state FROM jobs")
      .filter(({ id, state }) => {
        if (TERMINAL.includes(state)) return false;
        const gang = snapshot.gangs.find(({ job }) => job === id);
        return gang === undefined || couldStart(snapshot, gang);
      })
      .map(({ id }) => id);
  }

  async #submit(): Promise<void> {
    const shards = 1 + this.#below(3);
    this.#event = `a job of ${shards} came`;
    const task = this.#world.task(
      `job-${this.#jobs.length}`,
      {
        projectId: this.#pick(PROJECTS),
        minClients: this.#chance(0.5) ? shards : 1,
        resumable: this.#chance(0.5),
        timeLimitMs: this.#chance(0.4) ? 600_000 : null,
      },
      shards,
    );
    try {
      this.#jobs.push((await this.#world.parts.kernel.submit(task)).id);
    } catch (error) {
      // More than its project may ever hold.
      if (!(error instanceof ShareLimitExceeded)) throw error;
    }
  }

  /** Agents that answer hear, do their next things and tell them. */
  async #turn(failure: string | null): Promise<void> {
    this.#event = failure ?? "work went on";
    this.#world.nowMs += 5_000;
    this.#settleRecords();
    for (const agent of this.#agents) {
      if (this.#silent.has(agent)) continue;
      await agent.beat();
      await agent.fetch();
      for (let member = 0; member < 4; member += 1)
        agent.advance(member, member === 0 ? failure : null, 1 + this.#below(2));
      if (this.#chance(0.4)) agent.finishClients();
      await agent.send();
      await agent.send();
    }
    await this.#world.parts.sweeper.sweep();
  }

  async #cancel(): Promise<void> {
    const job = this.#jobs[this.#below(Math.max(1, this.#jobs.length))];
    this.#event = `${job ?? "nobody"} is cancelled`;
    if (job !== undefined) await this.#world.parts.kernel.requestStop(job, "user_cancelled", GATE);
  }

  #cordon(): void {
    const node = this.#pick(NODES);
    this.#event = `${node} is drained, or used again`;
    this.#world.parts.db
      .prepare("UPDATE nodes SET is_cordoned = 1 - is_cordoned WHERE id = ?")
      .run(node);
  }

  /** A node is lost for a minute, or comes back. */
  async #fallSilent(): Promise<void> {
    const agent = this.#pick(this.#agents);
    this.#event = `${agent.node} falls silent, or is back`;
    if (this.#silent.delete(agent)) return;
    this.#silent.add(agent);
    for (let n = 0; n < 12; n += 1) await this.#turn(null);
  }

  #share(): void {
    this.#event = "shares are set";
    const { db } = this.#world.parts;
    db.exec("DELETE FROM shares");
    let left = NODES.length * WORKERS;
    for (const project of PROJECTS) {
      const cpu = this.#below(left + 1);
      left -= cpu;
      db.prepare("INSERT INTO shares (id, guarantee, limits, changed_at) VALUES (?, ?, ?, 1)").run(
        ...[project, JSON.stringify({ cpu })],
        this.#chance(0.2) ? JSON.stringify({ cpu: cpu + 1 }) : "{}",
      );
    }
  }

  #crash(): void {
    this.#event = "the process was killed";
    this.#world.crash();
  }

  async #cycle(): Promise<void> {
    const { snapshots, scheduler } = this.#world.parts;
    for (let n = 0; n < 3; n += 1) {
      const snapshot = snapshots.read();
      const planned = plan(snapshot);
      this.#break(faultsOfPlan(snapshot, planned));
      const { placements, replacements, preemptions } = planned;
      await scheduler.cycle();
      if (placements.length + replacements.length + preemptions.length === 0) return;
    }
  }

  #judgeRows(): void {
    const all = <T>(sql: string) => this.#world.all<T>(sql);
    const faults = [
      ...all<{ worker: string }>(
        "SELECT worker_id AS worker FROM leases WHERE released_at IS NULL GROUP BY worker_id HAVING count(*) > 1",
      ).map(({ worker }) => `${worker} is leased twice`),
      ...all<{ job: string }>(
        "SELECT job_id AS job FROM attempts WHERE ended_at IS NULL AND is_replica = 0 GROUP BY job_id HAVING count(*) > 1",
      ).map(({ job }) => `${job} has two attempts that live`),
      ...all<{ job: string }>(
        `SELECT job_id AS job FROM attempts JOIN jobs ON jobs.id = attempts.job_id WHERE attempts.ended_at IS NULL AND jobs.ended_at IS NOT NULL`,
      ).map(({ job }) => `${job} is over, and an attempt of it lives`),
      ...all<{ worker: string }>(
        `SELECT worker_id AS worker FROM leases WHERE released_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM holdings WHERE holdings.lease_id = leases.id AND held_until IS NULL)`,
      ).map(({ worker }) => `nobody's use of ${worker} is written down`),
    ];
    const rows = this.#world.one<number>("SELECT count(*) FROM jobs");
    if (rows !== this.#jobs.length)
      faults.push(`${this.#jobs.length} jobs came, ${rows} are there`);
    for (const error of this.#world.errors) faults.push(String(error));
    this.#break(faults);
  }

  /** Nobody takes the records here: the kernel stops once they are old or many. */
  #settleRecords(): void {
    this.#world.parts.db.prepare("DELETE FROM audit_outbox").run();
  }

  #break(faults: readonly string[]): void {
    if (faults.length > 0) throw new BrokenHistory(this.#seed, this.#event, faults);
  }

  #chance(part: number): boolean {
    return this.#random() < part;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(of: readonly T[]): T {
    return of[this.#below(of.length)]!;
  }
}
