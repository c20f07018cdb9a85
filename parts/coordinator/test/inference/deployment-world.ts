/**
 * A deployment whose world is the test's: the real reducer, the gateway's real admission, and between them messages that are late. Kernel and callers are
 * played. Each {@link DeploymentWorld.act} is one thing that happens, and afterwards everything that must always hold is looked at.
 */
import type { DeploymentState } from "@resontech/contracts/deployment-states";
import type { CallCounts, Route } from "@resontech/contracts/inference-routes";
import { Admission, type Verdict } from "@resontech/inference-gateway/admission";
import {
  type Deployment,
  type DeploymentEffect,
  type DeploymentEvent,
  newDeployment,
  openReplicas,
  type Replica,
  type ReplicaFact,
  stepDeployment,
} from "../../src/inference/decisions/deployment.ts";
import {
  residenceMs,
  SCALING,
  type ScalingPolicy,
  wakeP95,
} from "../../src/inference/decisions/scaling-policy.ts";

const MAX_ONGOING = 2;
const SERVING = ["READY", "SUSPECT"];
const COMING = ["LEASED", "STARTING", "WARMING", "WAKING"];
/** A cold start, of a container that is there, and of a payload. */
const NEXT_PHASE: Partial<Record<ReplicaFact["state"], ReplicaFact["state"]>> = {
  LEASED: "STARTING",
  STARTING: "WARMING",
  WARMING: "READY",
  SUSPECT: "READY",
};
/** What each state may become, at one step. */
const MAY_BECOME: Record<DeploymentState, readonly DeploymentState[]> = {
  COLD: ["WAKING", "HOT", "STOPPED", "FAILED"],
  // The last: beside one that leaves, where nobody waits any more.
  WAKING: ["HOT", "COLD", "SLEEPING", "FAILED", "STOPPED", "DRAINING"],
  HOT: ["DRAINING", "WAKING", "SLEEPING", "COLD", "FAILED", "STOPPED"],
  SLEEPING: ["WAKING", "COLD", "FAILED", "STOPPED"],
  DRAINING: ["HOT", "COLD", "SLEEPING", "WAKING", "FAILED", "STOPPED"],
  STOPPED: [],
  FAILED: ["WAKING", "COLD", "HOT", "STOPPED", "DRAINING", "SLEEPING"],
};
const PASSED_MS = [50, 1_000, 5_000, 20_000, 61_000, 301_000];

export class DeploymentWorld {
  now = 1_000_000;
  deployment: Deployment;
  readonly #policy: ScalingPolicy;
  #members = new Map<string, ReplicaFact["state"]>();
  readonly #leaving = new Set<string>();
  /** Whose worker was taken back, and when. */
  readonly #takenBack = new Map<string, number>();
  #made = 0;
  /** Words on their way, oldest first. */
  #routes: Route[] = [];
  #reports: { counts: CallCounts; at: number }[] = [];
  #isGatewayThere = true;
  #isEnded = false;
  readonly #admission: Admission<number>;
  #calls = 0;
  readonly #waiting = new Set<number>();
  #underWay: { call: number; member: string }[] = [];
  #grewAt = Number.NEGATIVE_INFINITY;
  #shrankAt = Number.NEGATIVE_INFINITY;
  readonly ends = { led: 0, refused: 0, withdrawn: 0 };

  constructor(policy: ScalingPolicy) {
    this.#policy = policy;
    this.deployment = newDeployment(this.now);
    this.#admission = new Admission(this.#route());
    this.#members.set(this.#freshId(), "READY");
    this.#tellMembers();
  }

  /** One thing happens: `what` says which kind, `which` to whom of those that there are. Any two numbers will do. */
  act(what: number, which: number): void {
    const acts = [
      () => this.#arrive(),
      () => this.#arrive(),
      () => this.#finish(which),
      () => this.#finish(which),
      () => this.#withdraw(which),
      () => this.#hearRoute(),
      () => this.#hearRoute(),
      () => this.#hearReport(),
      () => this.#hearReport(),
      () => this.#place(),
      () => this.#advance(which),
      () => this.#advance(which),
      () => this.#letGo(),
      // Seldom, or nothing else would happen.
      () => which % 4 === 0 && this.#fall(which),
      () => this.#suspect(which),
      () => which % 4 === 0 && this.#leave(which),
      () => which % 4 === 0 && this.#takeBack(which),
      () => (which % 4 === 0 || !this.#isGatewayThere) && this.#turnGateway(),
      () => which % 60 === 0 && this.#end(),
      () => this.#pass(PASSED_MS[which % PASSED_MS.length]!),
      () => this.#pass(PASSED_MS[which % PASSED_MS.length]!),
    ];
    acts[what % acts.length]!();
    this.#requireSound();
  }

  /** Time goes on until nobody can wait any more, whatever became of the wakes. */
  quieten(): void {
    for (let second = 0; second < 70; second++) this.#pass(1_000);
    if (this.#waiting.size > 0) throw new Error(`${this.#waiting.size} calls wait for ever`);
    if (this.ends.led + this.ends.refused + this.ends.withdrawn !== this.#calls)
      throw new Error("a call ended twice, or not at all");
  }

  /** All that is on its way arrives, replicas come up and go, until nothing changes by itself. */
  calm(): void {
    for (let round = 0; round < 20; round++) {
      while (this.#routes.length > 0) this.#hearRoute();
      this.#isGatewayThere = true;
      this.#hearReport();
      while (this.deployment.due > 0) this.#place();
      for (let which = 0; which < this.#members.size; which++) this.#advance(which);
      this.#letGo();
      this.#pass(50);
      this.#requireSound();
    }
  }

  arrive(): void {
    this.#arrive();
  }

  finishAll(): void {
    while (this.#underWay.length > 0) this.#finish(0);
  }

  /** Both sides hear each other within a second, and no replica moves. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 1_000) {
      this.#pass(Math.min(left, 1_000));
      while (this.#routes.length > 0) this.#hearRoute();
      while (this.#reports.length > 0) this.#hearReport();
    }
  }

  /** Nobody hears anything meanwhile. */
  passInSilence(ms: number): void {
    this.#pass(ms);
  }

  /** The node of the oldest replica takes nothing new. */
  leave(): void {
    this.#leave(0);
  }

  /** The worker of the oldest replica is taken back for a job. */
  takeBack(): void {
    this.#takeBack(0);
  }

  failNext(): void {
    const [id] = [...this.#members].find(([, state]) => state !== "STOPPING") ?? [];
    if (id !== undefined) this.#members.delete(id);
    this.#tellMembers();
  }

  get living(): number {
    return this.deployment.replicas.filter(({ state }) => SERVING.includes(state)).length;
  }

  #arrive(): void {
    const call = this.#calls++;
    this.#waiting.add(call);
    this.#take(this.#admission.arrive(call, this.now));
  }

  #finish(which: number): void {
    const ended = this.#underWay[which % Math.max(1, this.#underWay.length)];
    if (ended === undefined) return;
    this.#underWay = this.#underWay.filter((other) => other !== ended);
    this.#take(this.#admission.end(ended.member, this.now));
  }

  #withdraw(which: number): void {
    const call = [...this.#waiting][which % Math.max(1, this.#waiting.size)];
    if (call === undefined) return;
    this.#admission.withdraw(call);
    this.#waiting.delete(call);
    this.ends.withdrawn += 1;
  }

  #hearRoute(): void {
    const route = this.#routes.shift();
    if (route !== undefined) this.#take(this.#admission.follow(route, this.now));
  }

  /** What was said some time ago arrives, or, where nothing is on its way, what holds now. */
  #hearReport(): void {
    if (!this.#isGatewayThere) return;
    const { counts, at } = this.#reports.shift() ?? this.#report();
    const { generation, queued, inFlight, idleMs } = counts;
    this.#step({
      ...{ kind: "load", now: this.now },
      load: {
        ...{ generation, queued },
        inFlight: Object.fromEntries(inFlight.map(({ member, calls }) => [member, calls])),
        lastCompletionAt: idleMs === null ? null : at - idleMs,
      },
    });
  }

  #report(): { counts: CallCounts; at: number } {
    return { counts: this.#admission.counts(this.now), at: this.now };
  }

  #turnGateway(): void {
    this.#isGatewayThere = !this.#isGatewayThere;
    this.#reports = [];
    if (this.#isGatewayThere) this.#routes = [this.#route()];
    else this.#step({ kind: "load", now: this.now, load: null });
  }

  #place(): void {
    if (this.deployment.due === 0) return;
    this.#members.set(this.#freshId(), "LEASED");
    this.#tellMembers(this.deployment.due - 1);
  }

  #advance(which: number): void {
    const [id, state] = this.#member(which);
    const next = state === undefined ? undefined : NEXT_PHASE[state];
    if (id === undefined || next === undefined) return;
    this.#members.set(id, next);
    this.#tellMembers();
  }

  /** What was told to stop is gone. */
  #letGo(): void {
    const gone = [...this.#members].filter(([, state]) => state === "STOPPING");
    for (const [id] of gone) this.#members.delete(id);
    const lost = this.#underWay.filter(({ member }) => gone.some(([id]) => id === member));
    this.#underWay = this.#underWay.filter((call) => !lost.includes(call));
    this.#tellMembers();
    for (const { member } of lost) this.#take(this.#admission.end(member, this.now));
  }

  /** A replica dies, and its calls with it. */
  #fall(which: number): void {
    const [id] = this.#member(which);
    if (id === undefined) return;
    this.#members.delete(id);
    const lost = this.#underWay.filter(({ member }) => member === id);
    this.#underWay = this.#underWay.filter(({ member }) => member !== id);
    this.#tellMembers();
    for (const { member } of lost) this.#take(this.#admission.end(member, this.now));
  }

  /** Somebody ends the deployment: its replicas go, and their calls with them. */
  #end(): void {
    this.#isEnded = true;
    this.#step({ kind: "stop", now: this.now });
  }

  /** Its node takes nothing new from here on. */
  #leave(which: number): void {
    const [id] = this.#member(which);
    if (id === undefined) return;
    this.#leaving.add(id);
    this.#tellMembers();
  }

  #takeBack(which: number): void {
    const [id] = this.#member(which);
    if (id === undefined) return;
    this.#takenBack.set(id, this.#takenBack.get(id) ?? this.now);
    this.#tellMembers();
  }

  #suspect(which: number): void {
    const [id, state] = this.#member(which);
    if (id === undefined || state !== "READY") return;
    this.#members.set(id, "SUSPECT");
    this.#tellMembers();
  }

  #pass(ms: number): void {
    this.now += ms;
    this.#take(this.#admission.expire(this.now));
    if (this.#isGatewayThere && this.#reports.length < 3) this.#reports.push(this.#report());
    this.#step({ kind: "tick", now: this.now });
  }

  #take(verdicts: readonly Verdict<number>[]): void {
    for (const verdict of verdicts) {
      if (!this.#waiting.delete(verdict.call)) throw new Error("a call has two verdicts");
      if ("refused" in verdict) {
        if (verdict.retryAfterS < 1 || verdict.retryAfterS > 60)
          throw new Error("it says to come again too late");
        this.ends.refused += 1;
        continue;
      }
      const { member } = verdict.replica;
      this.#requireOpen(member);
      this.#underWay.push({ call: verdict.call, member });
      this.ends.led += 1;
    }
  }

  /** What the gateway has not heard of yet may still be led to; what was put away may not. */
  #requireOpen(member: string): void {
    const found = this.deployment.replicas.find(({ id }) => id === member);
    if (found === undefined || this.#isEnded) return;
    if (![...SERVING, "DRAINING"].includes(found.state))
      throw new Error(`a call was led to ${member}, which is ${found.state}`);
  }

  #tellMembers(due = this.deployment.due): void {
    const replicas = [...this.#members].map(([id, state]) => ({
      ...{ id, state, isLeaving: this.#leaving.has(id) || this.#takenBack.has(id) },
      makesWay: this.#takenBack.has(id),
    }));
    this.#step({ kind: "members", now: this.now, due, replicas });
  }

  #step(event: DeploymentEvent): void {
    const before = this.deployment;
    const stepped = stepDeployment(before, event, this.#policy);
    this.deployment = stepped.deployment;
    this.#requireNoThrash(before, stepped.effects);
    for (const effect of stepped.effects) this.#carryOut(effect);
    if (this.deployment.generation !== before.generation) this.#routes.push(this.#route());
    const { state } = this.deployment;
    if (state !== before.state && !MAY_BECOME[before.state].includes(state))
      throw new Error(`${before.state} became ${state}`);
  }

  #carryOut(effect: DeploymentEffect): void {
    if (effect.kind === "place") return;
    const { replica } = effect;
    const { makesWayMs } = SCALING;
    const isOver = this.now - (this.#takenBack.get(replica) ?? this.now) >= makesWayMs;
    if (!this.#isEnded && !isOver && this.#underWay.some(({ member }) => member === replica))
      throw new Error(`${replica} is told to ${effect.kind} with calls under way`);
    if (!this.#members.has(replica)) throw new Error(`${replica} is not there`);
    const states = { stop: "STOPPING", sleep: "SLEEPING", wake: "WARMING" } as const;
    this.#members.set(replica, states[effect.kind]);
  }

  #requireNoThrash(before: Deployment, effects: readonly DeploymentEffect[]): void {
    const was = new Map(before.replicas.map((replica) => [replica.id, replica]));
    const { replicas, due } = this.deployment;
    const drained = replicas.filter(
      ({ id, state, isLeaving }) =>
        state === "DRAINING" && was.get(id)?.state !== "DRAINING" && !isLeaving,
    );
    const opened = replicas.filter(
      ({ id, state }) => state === "READY" && was.get(id)?.state === "DRAINING",
    );
    const placed = effects.some(({ kind }) => kind === "place") && due > before.due;
    if (drained.length > 1) throw new Error("two steps down at once");
    for (const { readyAt } of drained) this.#requireMayShrink(readyAt, before);
    if (!placed && opened.length === 0) return;
    // From nothing a wake is at once; every other step up waits.
    const isServing = replicas.some(
      ({ id, state, isLeaving }) =>
        SERVING.includes(state) && SERVING.includes(was.get(id)?.state ?? "") && !isLeaving,
    );
    if (isServing && this.now - this.#shrankAt < SCALING.upAfterMs)
      throw new Error("a step up right after one down");
    this.#grewAt = this.now;
  }

  #requireMayShrink(readyAt: Replica["readyAt"], { wakesMs }: Deployment): void {
    if (readyAt === null || this.now - readyAt < residenceMs(wakesMs))
      throw new Error("a replica goes before it has been there long enough");
    if (this.now - this.#grewAt < SCALING.downAfterMs)
      throw new Error("a step down right after one up");
    if (this.now - this.#shrankAt < SCALING.downAfterMs)
      throw new Error("a step down right after another");
    this.#shrankAt = this.now;
  }

  #requireSound(): void {
    const { replicas, due } = this.deployment;
    const ids = replicas.map(({ id }) => id);
    if (new Set(ids).size !== ids.length) throw new Error("a replica is there twice");
    const living = replicas.filter(
      ({ state, isLeaving }) => COMING.includes(state) || (SERVING.includes(state) && !isLeaving),
    ).length;
    for (const { id, state } of replicas)
      if (
        this.now - (this.#takenBack.get(id) ?? this.now) > SCALING.makesWayMs &&
        state !== "STOPPING" &&
        state !== "LOST"
      )
        throw new Error(`${id} keeps a worker that was taken back`);
    if (living + due > this.#policy.max) throw new Error(`${living + due} replicas are too many`);
  }

  #member(which: number): [string, ReplicaFact["state"]] | [] {
    return [...this.#members][which % Math.max(1, this.#members.size)] ?? [];
  }

  #freshId(): string {
    return `r-${this.#made++}`;
  }

  #route(): Route {
    const { generation, state, wakesMs, replicas } = this.deployment;
    const open = new Set(openReplicas(this.deployment));
    return {
      ...{ name: "d", api: "predict", createdAt: 0 },
      ...{
        deployment: "d",
        project: "p",
        aliases: [],
        keySha256: "0".repeat(64),
        visibility: "PRIVATE",
      },
      ...{ maxOngoingRequests: MAX_ONGOING, generation, state, wakeMs: wakeP95(wakesMs) },
      replicas: replicas
        .filter((replica) => [...SERVING, "DRAINING"].includes(replica.state))
        .map(({ id }) => ({
          ...{ member: id, node: "n", host: "h", port: 1, certificateSha256: "0".repeat(64) },
          isOpen: open.has(id),
        })),
    };
  }
}
