import {
  AGENT_PROTOCOL,
  type BeatRequest,
  type DesiredMember,
  type Inventory,
  type InventoryWorker,
  type MemberEvent,
  type MemberReport,
  type RegisterReply,
  type RegisterRequest,
} from "@resontech/contracts/agent-protocol";
import type { Fence } from "@resontech/contracts/fence";
import { PREDICTOR_SPEC } from "@resontech/contracts/predictor-spec";
import { versionsOf } from "@resontech/contracts/protocol-versions";
import type { KernelWorld } from "./kernel-world.ts";
import { isServer } from "./told-role.ts";

type Held = {
  desired: DesiredMember;
  step: number;
  seq: number;
  spool: MemberReport[];
  isOver: boolean;
  /** The last wish that it has answered. */
  obeyed: number;
};

const RELEASED: MemberEvent = {
  kind: "released",
  processesGone: true,
  diskGone: true,
  devicesAtBaseline: true,
};
const SERVER_STEPS: MemberEvent[] = [
  { kind: "progress", step: "inputs", done: 1 },
  { kind: "staged", bytes: 1 },
  { kind: "started", container: "c" },
  { kind: "ready" },
  { kind: "job-started", nvflareJob: "nv" },
  { kind: "round-started", round: 0, numRounds: 1 },
  { kind: "finished" },
  { kind: "outputs-uploaded", keys: [] },
  RELEASED,
];
const CLIENT_STEPS: MemberEvent[] = [
  { kind: "progress", step: "inputs", done: 1 },
  { kind: "staged", bytes: 1 },
  { kind: "started", container: "c" },
  { kind: "ready" },
];
/** A replica is ready, and goes on until it is told to stop. */
const REPLICA_STEPS = CLIENT_STEPS;
const CLIENT_END: MemberEvent[] = [
  { kind: "finished" },
  { kind: "outputs-uploaded", keys: [] },
  RELEASED,
];

/**
 * An agent in memory that keeps the protocol: it spools each report until it was accepted, tears down what it is told to stop, drops
 * what is stale. The network between it and the kernel is the test's to break.
 */
export class SimAgent {
  readonly node: string;
  readonly #world: KernelWorld;
  readonly #workers: number;
  /** Its slots are devices such as this one; absent: CPU slots. */
  device: Partial<InventoryWorker> | undefined;
  /** What its beats say of members and node. */
  uses: Pick<BeatRequest, "members" | "node"> = {};
  /** Of its node, for those that call its members. */
  ports = { from: 29_000, to: 29_001 };
  #epoch: Fence = { generation: 1, counter: 0 };
  #beats = 0;
  #leaseOf: string | null = null;
  held = new Map<string, Held>();
  /** Who is asked to commit does so with its next thing, and ends; else it goes on. */
  commits = true;
  /** As its registration says. */
  protocol: RegisterRequest["protocol"] = versionsOf(AGENT_PROTOCOL);

  constructor(world: KernelWorld, node: string, workers: number) {
    this.#world = world;
    this.node = node;
    this.#workers = workers;
  }

  async register(): Promise<RegisterReply> {
    const { commit, registry } = this.#world.parts;
    const held = this.#heldList();
    const bridge = { address: "10.0.0.1", ports: this.ports };
    const request = {
      protocol: this.protocol,
      bootId: "b",
      agentVersion: "1",
      inventory: this.#inventory(),
      bridge,
      held,
    } as const;
    const reply = await commit.run(() => registry.register(this.node, request));
    this.#epoch = reply.nodeEpoch;
    this.#leaseOf = null;
    return reply;
  }

  /** Containers that are there, by the worker that each uses. */
  inUse(): { worker: string; member: string }[] {
    return [...this.held.values()]
      .filter(({ isOver }) => !isOver)
      .flatMap(({ desired }) =>
        desired.resources.workers.map((worker) => ({ worker, member: desired.member })),
      );
  }

  /** It comes back without anything that it knew: every container was swept. */
  forget(): void {
    this.held.clear();
  }

  /** @param isAnswerLost it was heard, and never learnt it */
  async beat(isAnswerLost = false): Promise<void> {
    await this.#current(async () => {
      const { commit, registry } = this.#world.parts;
      const beat = {
        ...{
          nodeEpoch: this.#epoch,
          nonce: `beat-${this.#beats++}`,
          leaseOf: this.#leaseOf,
          bootId: "b",
          held: this.#heldList(),
        },
        ...{ inventoryDigest: "0".repeat(64), loopLagMs: 0, diskFreeBytes: 1e11 },
        ...this.uses,
      };
      await commit.run(() => registry.hear(this.node, beat));
      const { nonce } = registry.beatReply(this.node, beat);
      if (!isAnswerLost) this.#leaseOf = nonce;
    });
  }

  /** @param isAnswerLost the kernel committed, and the agent never learnt it */
  async fetch(isAnswerLost = false): Promise<void> {
    await this.#current(async () => {
      const { commit, registry, desiredSets } = this.#world.parts;
      const { members } = await commit.run(() => {
        registry.current(this.node, this.#epoch);
        return desiredSets.claimAndTell(this.node);
      });
      if (!isAnswerLost) this.#reconcile(members);
    });
  }

  /** One member does the next things, well or not. */
  advance(which: number, failure: string | null, times = 1): void {
    for (let time = 0; time < times; time++) this.#advanceOnce(which, failure);
  }

  #advanceOnce(which: number, failure: string | null): void {
    const working = [...this.held.values()].filter(
      ({ isOver, desired }) => !isOver && isAtWork(desired),
    );
    const held = working[which % Math.max(1, working.length)];
    if (held === undefined) return;
    if (failure !== null) {
      this.#tell(held, { kind: "failed", reason: failure, message: "failed" });
      this.#end(held);
      return;
    }
    if (held.desired.stopAfter === "commit") {
      if (this.commits) this.commit(held.desired.member);
      return;
    }
    const steps = stepsOf(held.desired);
    const event = steps[held.step];
    if (event === undefined) return this.#obey(held);
    held.step += 1;
    if (event.kind === "outputs-uploaded") this.#storeModel(held.desired);
    this.#tell(held, event);
    if (event.kind === "released") held.isOver = true;
  }

  /** It has committed, and ends with that. */
  commit(member: string): void {
    const held = this.held.get(member)!;
    this.#tell(held, { kind: "outputs-uploaded", keys: [] });
    this.#end(held);
  }

  /** Its payload stops or goes on, where that is wished and was not done. */
  #obey(held: Held): void {
    const { wish } = held.desired;
    if (wish === undefined || wish.order <= held.obeyed) return;
    held.obeyed = wish.order;
    const standing = wish.asleep ? "asleep" : "well";
    this.#tell(held, { kind: "standing", standing, order: wish.order });
  }

  /** One member says something out of turn. */
  say(member: string, event: MemberEvent): void {
    this.#tell(this.held.get(member)!, event);
  }

  /** Clients end with their server. */
  finishClients(): void {
    for (const held of this.held.values()) {
      if (held.isOver || isServer(held.desired) || held.step < CLIENT_STEPS.length) continue;
      for (const event of CLIENT_END) this.#tell(held, event);
      held.isOver = true;
    }
  }

  /** Sends the spool. `lost` is where the exchange breaks: before the kernel, or after it. */
  async send(lost: "request" | "answer" | null = null): Promise<void> {
    if (lost === "request") return;
    await this.#current(async () => {
      const { commit, registry, reports } = this.#world.parts;
      const spooled = [...this.held.values()].flatMap(({ spool }) => spool);
      if (spooled.length === 0) return;
      const { results } = await commit.run(() => {
        registry.current(this.node, this.#epoch);
        return reports.take(spooled, ({ node_id: node }) => node === this.node);
      });
      if (lost === "answer") return;
      for (const [at, { member, fence }] of spooled.entries())
        this.#settled(member, fence, results[at]!);
    });
  }

  /** A message of long ago arrives again. */
  async replay(report: MemberReport | undefined): Promise<void> {
    if (report === undefined) return;
    await this.#current(async () => {
      const { commit, registry, reports } = this.#world.parts;
      await commit.run(() => {
        registry.current(this.node, this.#epoch);
        return reports.take([report], ({ node_id: node }) => node === this.node);
      });
    });
  }

  readonly sent: MemberReport[] = [];

  #settled(member: string, fence: Fence, result: "accepted" | "stale"): void {
    const held = this.held.get(member);
    if (held === undefined || held.desired.fence.counter !== fence.counter) return;
    if (result === "stale") this.held.delete(member);
    else held.spool.shift();
    if (held.isOver && held.spool.length === 0) this.held.delete(member);
  }

  #reconcile(members: readonly DesiredMember[]): void {
    const wanted = new Set(members.map(({ member }) => member));
    for (const member of this.held.keys()) if (!wanted.has(member)) this.held.delete(member);
    for (const desired of members) {
      const held = this.held.get(desired.member);
      const isNewFence = held !== undefined && held.desired.fence.counter !== desired.fence.counter;
      if (held === undefined || isNewFence) {
        const fresh: Held = { desired, step: 0, seq: 0, spool: [], isOver: false, obeyed: 0 };
        this.held.set(desired.member, fresh);
        if (!isAtWork(desired)) this.#end(fresh);
      } else {
        held.desired = desired;
        if (!isAtWork(desired) && !held.isOver) this.#end(held);
      }
    }
  }

  #end(held: Held): void {
    this.#tell(held, RELEASED);
    held.isOver = true;
  }

  #tell(held: Held, event: MemberEvent): void {
    held.seq += 1;
    const { member, fence } = held.desired;
    const report = {
      member,
      fence,
      seq: held.seq,
      at: new Date(this.#world.nowMs).toISOString(),
      event,
    };
    held.spool.push(report);
    this.sent.push(report);
  }

  #storeModel({ member, job, fence }: DesiredMember): void {
    const { outputs } = this.#world.parts;
    const slug = this.#world.one<string>("SELECT slug FROM jobs WHERE id = ?", job);
    const isCurrent =
      this.#world.one<number>("SELECT counter FROM members WHERE id = ?", member) === fence.counter;
    const id = `up-${member}-${fence.counter}`;
    if (!isCurrent || outputs.get(id) !== undefined) return;
    outputs.insert({
      ...{
        id,
        job_id: job,
        member_id: member,
        ...fence,
        bucket: "bucket-a",
        key: `jobs/${slug}/model_out/checkpoint.pt`,
      },
      ...{
        s3_upload_id: "s",
        is_log: 0,
        size_bytes: 1,
        sha256: "0".repeat(64),
        part_size_bytes: 1,
        part_count: 1,
      },
      ...{
        state: "COMPLETED",
        etags: "[]",
        version_id: "v",
        etag: "e",
        opened_at: 1,
        closed_at: 1,
      },
    });
  }

  /** An epoch that was voided meanwhile is the one refusal that a good agent meets: it registers again. */
  async #current(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code !== "stale_epoch" && code !== "out_of_order") throw error;
      if (code === "stale_epoch") await this.register();
    }
  }

  #heldList() {
    return [...this.held.values()].map(({ desired: { member, fence } }) => ({ member, fence }));
  }

  #inventory(): Inventory {
    return {
      ...{
        hostname: this.node,
        os: "o",
        kernel: "k",
        cpuModel: "c",
        cpuCores: 2,
        memoryBytes: 8e9,
        diskFreeBytes: 1e11,
      },
      containerEngine: "e",
      workers: Array.from({ length: this.#workers }, (_, n) => ({
        ...{
          id: `${this.node}-${n}`,
          kind: "cpu" as const,
          model: "cpu",
          memoryBytes: 4e9,
          healthy: true,
        },
        ...this.device,
      })),
    };
  }
}

function isAtWork({ desired, stopAfter }: DesiredMember): boolean {
  return desired === "run" || stopAfter === "commit";
}

function stepsOf(desired: DesiredMember): readonly MemberEvent[] {
  if (desired.payload.files.some(({ name }) => name === PREDICTOR_SPEC)) return REPLICA_STEPS;
  return isServer(desired) ? SERVER_STEPS : CLIENT_STEPS;
}
