/** A deployment on the real kernel, with agents in memory that say what a replica's node says. */
import { type MemberEvent, STANDING_SINCE } from "@resontech/contracts/agent-protocol";
import type { Test } from "tap";
import type { Deployment as Asked } from "../../src/workloads/predictor/predictor.ts";
import type { Scaling } from "../../src/workloads/predictor/scaling.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

const READY: MemberEvent[] = [
  { kind: "progress", step: "inputs", done: 1 },
  { kind: "staged", bytes: 1 },
  { kind: "started", container: "c" },
  { kind: "ready" },
];
const RELEASED: MemberEvent = {
  kind: "released",
  ...{ processesGone: true, diskGone: true, devicesAtBaseline: true },
};

export type MemberState = { id: string; node_id: string; state: string };

/** @returns the job's id */
export async function deploy(
  world: KernelWorld,
  name: string,
  scaling: Scaling,
  replaces: string | null = null,
  projectId = "project-a",
): Promise<string> {
  const spec: Asked = {
    ...{ engine: "predictor", module: "m", className: "P", initArgs: {}, modelPath: null },
    maxOngoingRequests: 2,
    ...{
      scaling,
      visibility: "PRIVATE",
      callbackUrl: null,
      replaces,
      keySha256: (replaces === null ? "0" : "1").repeat(64),
      callbackSecret: (replaces === null ? "1" : "2").repeat(64),
    },
  };
  const task = world.task(name, {
    projectId,
    ...{ kind: "predictor", spec, numRounds: null, minClients: 0, inputs: [] },
    shardUncompressedBytes: [0],
  });
  return (await world.parts.kernel.submit(task)).id;
}

export class ReplicaWorld {
  readonly world: KernelWorld;
  readonly agents: SimAgent[];
  id = "";

  constructor(world = new KernelWorld(), agents: SimAgent[] = []) {
    this.world = world;
    this.agents = agents;
  }

  /** A newer deployment on the same nodes that is to take the place of this one. */
  async replaced(scaling: Scaling): Promise<ReplicaWorld> {
    const newer = new ReplicaWorld(this.world, this.agents);
    newer.id = await deploy(this.world, `after-${this.id}`, scaling, this.id);
    return newer;
  }

  /**
   * Accepted, and nothing placed yet.
   * @param workers of each node: `node-a` and on
   * @param protocol of the agents; those of the default put nothing to sleep
   */
  static async open(
    t: Test,
    workers: readonly number[],
    scaling: Scaling,
    protocol = STANDING_SINCE - 1,
  ): Promise<ReplicaWorld> {
    const made = new ReplicaWorld();
    t.teardown(() => made.world[Symbol.dispose]());
    for (const [at, count] of workers.entries()) {
      const agent = new SimAgent(made.world, `node-${"abc"[at]}`, count);
      agent.protocol = protocol;
      made.agents.push(agent);
      made.world.admit(agent.node);
      await agent.register();
    }
    made.id = await deploy(made.world, "p", scaling);
    return made;
  }

  /** Placed where wanted, told to its node, and ready. */
  async settle(): Promise<void> {
    await this.place();
    for (const { id, state } of this.members())
      if (state === "STARTING") await this.say(id, ...READY);
  }

  async place(): Promise<void> {
    await this.world.parts.scheduler.cycle();
    for (const agent of this.agents) {
      await agent.fetch();
      await agent.send();
    }
  }

  async say(member: string, ...events: MemberEvent[]): Promise<void> {
    const agent = this.agents.find(({ held }) => held.has(member))!;
    for (const event of events) agent.say(member, event);
    await agent.send();
  }

  /** Nodes fetch what is wished of the replica, and it does it. */
  async obey(member: string): Promise<void> {
    await this.place();
    const held = this.agents
      .map((agent) => agent.held.get(member))
      .find((one) => one !== undefined);
    const { order, asleep } = held!.desired.wish!;
    await this.say(member, { kind: "standing", standing: asleep ? "asleep" : "well", order });
  }

  async fail(member: string, reason = "payload_exited"): Promise<void> {
    const failed = { kind: "failed", reason, message: "it failed" } as const;
    await this.say(member, failed, { kind: "outputs-uploaded", keys: [] }, RELEASED);
  }

  /** One that was told to stop has stopped. */
  async release(member: string): Promise<void> {
    const { state } = this.members().find(({ id }) => id === member)!;
    if (state !== "RUNNING")
      await this.say(member, { kind: "outputs-uploaded", keys: [] }, RELEASED);
  }

  async commit(work: () => void): Promise<void> {
    await this.world.parts.commit.run(work);
  }

  /** Seconds pass; nodes beat meanwhile, those that live. */
  async pass(seconds: number, living: readonly SimAgent[] = this.agents): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.world.nowMs += 1_000;
      this.world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(this.world.nowMs);
      if (second % 5 === 0) for (const agent of living) await agent.beat();
      await this.world.parts.liveness.tick();
      await this.world.parts.sweeper.sweep();
    }
  }

  get state(): string {
    return this.world.one("SELECT state FROM jobs WHERE id = ?", this.id);
  }

  /** Of attempts that live. */
  members(): MemberState[] {
    return this.world.all(
      `SELECT members.id, members.node_id, members.state FROM members JOIN attempts ON attempts.id = attempt_id AND attempts.ended_at IS NULL
       WHERE members.job_id = ? ORDER BY attempts.number`,
      this.id,
    );
  }

  states(): string[] {
    return this.members().map(({ state }) => state);
  }
}
