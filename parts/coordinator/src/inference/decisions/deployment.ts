/**
 * The one reducer of a deployment and its replicas: `(deployment, event) → (deployment, effects)`. Pure: time comes in with the event. Facts come whole
 * each time, those of the kernel as `members`, those of the gateways as `load`, so none that is lost or told twice changes the outcome. The deployment
 * is the coordinator's; a gateway that follows an older generation says so, and its word closes nothing. Property tests: test/inference/decisions.
 */
import type { DeploymentState, ReplicaState } from "@resontech/contracts/deployment-states";
import type { WokenCall } from "@resontech/contracts/inference-routes";
import { residenceMs, SCALING, type ScalingPolicy, wakeP95 } from "./scaling-policy.ts";
import { type Demand, wantedReplicas } from "./wanted-replicas.ts";

export type Replica = {
  id: string;
  state: ReplicaState;
  /** When its way to readiness began. */
  beganAt: number;
  /** Null until it was ready for the first time, or since it was last asleep. */
  readyAt: number | null;
  /** Of the deployment, in which it was told to take nothing new; null while it may take calls. */
  closedIn: number | null;
  /** Its node takes nothing new: it goes as soon as others are as many as are wanted. */
  isLeaving: boolean;
  /** Its worker was taken back: it takes nothing new at once, and goes with its last call, or when its time is over. */
  makesWay?: true;
  /** Since when it takes nothing new. */
  closedAt?: number;
  /** It was asleep when its way to readiness began. */
  wasAsleep?: true;
};

export type Deployment = {
  state: DeploymentState;
  /** Grows with every change that others can see. */
  generation: number;
  since: number;
  /** Replicas that are wanted and have no worker yet. */
  due: number;
  replicas: readonly Replica[];
  /** When the wake began that has nobody ready beside it; null while there is none. */
  wakingSince: number | null;
  tooFewSince: number | null;
  tooManySince: number | null;
  /** How long the last wakes took. */
  wakesMs: readonly number[];
  /** The same, apart by what there was before: a replica asleep, or none. */
  tierWakesMs?: Readonly<Record<WakeTier, readonly number[]>>;
  /** How long callers waited for the first byte when a wake was for them: what comes before and after the replica's own time is theirs, too. */
  waits?: {
    /** Of the last wake that is among them. */
    generation: number;
    tierMs: Readonly<Record<WakeTier, readonly number[]>>;
  };
  /** When wakes failed, within the breaker's window. */
  failures: readonly number[];
  /** Until then nothing is placed; null while the breaker is closed. A time that has passed allows one try. */
  brokenUntil: number | null;
  /** What the gateways said last; null while none is there. */
  load: Load | null;
  /** The last call that ended, or the first readiness. */
  idleSince: number;
};

export type WakeTier = "asleep" | "cold";

/** Of all gateways together. */
export type Load = {
  /** The oldest that any of them follows. */
  generation: number;
  /** Calls that wait for a replica. */
  queued: number;
  /** Calls under way, by replica. */
  inFlight: Readonly<Record<string, number>>;
  /** Null where none has ended. */
  lastCompletionAt: number | null;
  /** See Demand of wanted-replicas.ts; absent: nobody counts. */
  requestsPerSecond?: number | null;
  deviceUse?: number | null;
  /** Of each gateway the last call that a wake was for. */
  woken?: readonly WokenCall[];
};

export type ReplicaFact = {
  id: string;
  state: "LEASED" | "STARTING" | "WARMING" | "READY" | "SUSPECT" | "SLEEPING" | "STOPPING" | "LOST";
  isLeaving: boolean;
  /** Its worker was taken back for somebody who may have it. */
  makesWay?: boolean;
};

export type DeploymentEvent = { now: number } & (
  | { kind: "tick" }
  /** Every replica that has not let go of its worker, and how many wait for one. */
  | { kind: "members"; due: number; replicas: readonly ReplicaFact[] }
  | { kind: "load"; load: Load | null }
  /** Somebody ended the deployment. */
  | { kind: "stop" }
);

export type DeploymentEffect =
  /** So many replicas, no more and no fewer, wait for a worker. */
  | { kind: "place"; due: number }
  | { kind: "stop"; replica: string }
  | { kind: "sleep"; replica: string }
  | { kind: "wake"; replica: string };

export type DeploymentStep = { deployment: Deployment; effects: readonly DeploymentEffect[] };

const COMING: readonly ReplicaState[] = ["LEASED", "STARTING", "WARMING", "WAKING"];
const SERVING: readonly ReplicaState[] = ["READY", "SUSPECT"];

/** One that has just loaded for the first time: its replicas come with the first facts. */
export function newDeployment(now: number): Deployment {
  return {
    ...{ state: "COLD", generation: 1, since: now, due: 0, replicas: [], wakingSince: null },
    ...{ tooFewSince: null, tooManySince: null, wakesMs: [], failures: [], brokenUntil: null },
    ...{ load: null, idleSince: now },
  };
}

/** One that another process left: what it waited for is waited for anew, and nothing is known of calls. */
export function resumedDeployment(left: Deployment, now: number): Deployment {
  return {
    ...left,
    ...{ load: null, idleSince: now, wakingSince: null, tooFewSince: null, tooManySince: null },
  };
}

/** Replicas that may be given calls. One whose node is late is asked only where there is no other. */
export function openReplicas({ replicas }: Pick<Deployment, "replicas">): string[] {
  const of = (wanted: ReplicaState) =>
    replicas.filter(({ state }) => state === wanted).map(({ id }) => id);
  const ready = of("READY");
  return ready.length > 0 ? ready : of("SUSPECT");
}

/** Replicas on their way, those that have no worker yet among them. */
export function startingOf({ due, replicas }: Pick<Deployment, "due" | "replicas">): number {
  return due + replicas.filter(({ state }) => COMING.includes(state)).length;
}

export function stepDeployment(
  before: Deployment,
  event: DeploymentEvent,
  policy: ScalingPolicy,
): DeploymentStep {
  const effects: DeploymentEffect[] = [];
  const draft = new Draft(before, event.now, policy, effects);
  switch (event.kind) {
    case "members":
      draft.takeMembers(event.due, event.replicas);
      break;
    case "load":
      draft.takeLoad(event.load);
      break;
    case "stop":
      draft.stopAll();
      break;
    case "tick":
      break;
  }
  if (before.state !== "STOPPED" && event.kind !== "stop") draft.scale();
  return { deployment: draft.settled(event.kind === "stop"), effects };
}

/** A deployment within one step. */
class Draft {
  readonly #before: Deployment;
  readonly #now: number;
  readonly #policy: ScalingPolicy;
  readonly #effects: DeploymentEffect[];
  #next: Deployment;

  constructor(before: Deployment, now: number, policy: ScalingPolicy, effects: DeploymentEffect[]) {
    this.#before = before;
    this.#now = now;
    this.#policy = policy;
    this.#effects = effects;
    this.#next = before;
  }

  takeMembers(due: number, facts: readonly ReplicaFact[]): void {
    const known = new Map(this.#next.replicas.map((replica) => [replica.id, replica]));
    const there = new Set(facts.map(({ id }) => id));
    this.#change({ due });
    for (const replica of known.values()) if (!there.has(replica.id)) this.#noteEnd(replica);
    this.#change({ replicas: facts.map((fact) => this.#merged(known.get(fact.id), fact)) });
  }

  takeLoad(load: Load | null): void {
    const { idleSince } = this.#next;
    this.#change({ load, idleSince: Math.max(idleSince, load?.lastCompletionAt ?? idleSince) });
    if (load === null) return;
    for (const call of load.woken ?? []) this.#noteWait(call);
    for (const replica of this.#in("DRAINING")) {
      const isAcknowledged = replica.closedIn !== null && load.generation >= replica.closedIn;
      if (!isAcknowledged || (load.inFlight[replica.id] ?? 0) > 0) continue;
      // Nobody else could take what waits: it opens again. Both are decided on one word of the gateways.
      if (load.queued > 0 && this.#in(...SERVING).length === 0 && replica.makesWay !== true)
        this.#open(replica);
      else this.#putAway(replica);
    }
  }

  stopAll(): void {
    if (this.#next.due > 0) this.#place(0);
    for (const replica of this.#next.replicas) if (!isEnding(replica)) this.#stop(replica);
  }

  scale(): void {
    this.#makeWay();
    this.#wakeOrCancel();
    this.#endSleep();
    const serving = this.#in(...SERVING);
    const staying = serving.filter(({ isLeaving }) => !isLeaving).length;
    const living = staying + this.#coming();
    const wanted = this.#wanted(serving.length + this.#coming());
    if (staying >= wanted) this.#closeLeaving();
    if (wanted > living) {
      this.#change({ tooManySince: null, tooFewSince: this.#next.tooFewSince ?? this.#now });
      const isLate = this.#now - this.#next.tooFewSince! >= SCALING.upAfterMs;
      if (living === 0 || isLate) this.#grow(wanted - living);
      return;
    }
    this.#change({ tooFewSince: null });
    if (wanted === living) return this.#change({ tooManySince: null });
    this.#change({ tooManySince: this.#next.tooManySince ?? this.#now });
    this.#shrink(staying, wanted);
  }

  settled(isStop: boolean): Deployment {
    const isStopped = isStop || this.#before.state === "STOPPED";
    const state = isStopped ? "STOPPED" : this.#state();
    const before = this.#before;
    const isSame =
      state === before.state &&
      this.#next.due === before.due &&
      view(this.#next.replicas) === view(before.replicas);
    if (isSame) return this.#next;
    const since = state === before.state ? before.since : this.#now;
    return { ...this.#next, state, since, generation: before.generation + 1 };
  }

  #state(): DeploymentState {
    if (this.#in(...SERVING).length > 0) return "HOT";
    const { brokenUntil } = this.#next;
    if (brokenUntil !== null && this.#now < brokenUntil) return "FAILED";
    if (this.#coming() > 0) return "WAKING";
    if (this.#in("DRAINING").length > 0) return "DRAINING";
    return this.#in("SLEEPING").length > 0 ? "SLEEPING" : "COLD";
  }

  /** How many replicas what is known asks for; as many as there are where nothing is known. */
  #wanted(living: number): number {
    const { min, max } = this.#policy;
    const { load } = this.#next;
    const asked =
      load === null
        ? living
        : wantedReplicas(demandOf(load), this.#policy, this.#in(...SERVING).length);
    return Math.min(max, Math.max(min, asked));
  }

  /** The last one that waits for a wake has left: unless it is nearly there it ends. */
  #wakeOrCancel(): void {
    const { wakingSince, wakesMs, load } = this.#next;
    const isWaking = this.#coming() > 0 && this.#in(...SERVING).length === 0;
    if (!isWaking) return this.#change({ wakingSince: null });
    this.#change({ wakingSince: wakingSince ?? this.#now });
    const elapsed = this.#now - (wakingSince ?? this.#now);
    const isNear = elapsed >= SCALING.loadedShare * wakeP95(wakesMs);
    if (this.#policy.min > 0 || load === null || callsOf(load) > 0 || isNear) return;
    if (this.#next.due > 0) this.#place(0);
    for (const replica of this.#in(...COMING))
      if (replica.state === "WAKING") this.#sleep(replica);
      else this.#stop(replica);
    this.#change({ wakingSince: null });
  }

  /** Those that only drain come back first, then those that sleep, then new ones. */
  #grow(count: number): void {
    let missing = count;
    const draining = this.#in("DRAINING").filter(({ isLeaving }) => !isLeaving);
    for (const replica of draining.slice(0, missing)) {
      this.#open(replica);
      missing -= 1;
    }
    const { brokenUntil } = this.#next;
    if (brokenUntil !== null) {
      // One try at a time, and none before its time.
      if (this.#now < brokenUntil || this.#coming() > 0) return;
      missing = Math.min(missing, 1);
    }
    for (const replica of this.#in("SLEEPING").slice(0, missing)) {
      this.#effects.push({ kind: "wake", replica: replica.id });
      this.#replace({ ...replica, state: "WAKING", beganAt: this.#now, wasAsleep: true });
      missing -= 1;
    }
    if (missing > 0) this.#place(this.#next.due + missing);
    this.#change({ tooFewSince: null });
    if (this.#in(...SERVING).length === 0)
      this.#change({ wakingSince: this.#next.wakingSince ?? this.#now });
  }

  /** One step down: the newest that has been there long enough takes nothing new. */
  #shrink(staying: number, wanted: number): void {
    const { tooManySince, idleSince, wakesMs, load } = this.#next;
    const isMoving = this.#coming() > 0 || this.#in("DRAINING").length > 0;
    if (load === null || tooManySince === null || isMoving || staying <= wanted) return;
    const from = staying === 1 ? Math.max(tooManySince, idleSince) : tooManySince;
    if (this.#now - from < (this.#policy.downAfterMs ?? SCALING.downAfterMs)) return;
    const going = this.#in(...SERVING)
      .filter(({ isLeaving }) => !isLeaving)
      .filter(({ readyAt }) => this.#now - (readyAt ?? this.#now) >= residenceMs(wakesMs))
      .toSorted((a, b) => b.beganAt - a.beganAt)[0];
    if (going === undefined) return;
    this.#close(going);
    this.#change({ tooManySince: this.#now });
  }

  /** Whoever waits for its worker may have it: others that are to come are no reason to keep it. A call that lasts longer than the time ends with it. */
  #makeWay(): void {
    for (const replica of this.#next.replicas)
      if (replica.makesWay !== true || isEnding(replica)) continue;
      else if (SERVING.includes(replica.state)) this.#close(replica);
      else if (replica.state !== "DRAINING") this.#stop(replica);
      else if (replica.closedAt === undefined) this.#replace({ ...replica, closedAt: this.#now });
      else if (this.#now - replica.closedAt >= SCALING.makesWayMs) this.#stop(replica);
  }

  #closeLeaving(): void {
    for (const replica of this.#in(...SERVING)) if (replica.isLeaving) this.#close(replica);
  }

  #endSleep(): void {
    const isOver = !this.#policy.sleeps || this.#now - this.#next.since >= SCALING.sleepMs;
    if (this.#next.state !== "SLEEPING" || !isOver) return;
    for (const replica of this.#in("SLEEPING")) this.#stop(replica);
  }

  /** What the kernel says, but for what this reducer has asked for and the kernel can't know yet. */
  #merged(last: Replica | undefined, fact: ReplicaFact): Replica {
    if (last === undefined) return this.#arrived(fact);
    const { state, isLeaving, makesWay = false } = fact;
    const isKnown = last.isLeaving === isLeaving && (last.makesWay ?? false) === makesWay;
    const known: Replica = isKnown
      ? last
      : { ...last, isLeaving, ...(makesWay ? { makesWay } : {}) };
    if (known.state === state) return known;
    const isGone = state === "STOPPING" || state === "LOST";
    const asks: readonly ReplicaState[] =
      state === "SLEEPING" ? ["WAKING", "STOPPING"] : ["DRAINING", "SLEEPING", "STOPPING", "LOST"];
    if (!isGone && asks.includes(known.state)) return known;
    if (isGone && !isEnding(known)) this.#noteEnd(known);
    if (state !== "READY") return { ...known, state, closedIn: null };
    const { wasAsleep, ...ready } = known;
    if (known.readyAt === null)
      this.#noteWake(this.#now - known.beganAt, wasAsleep === true ? "asleep" : "cold");
    return { ...ready, state, readyAt: known.readyAt ?? this.#now, closedIn: null };
  }

  #arrived({ id, state, isLeaving, makesWay = false }: ReplicaFact): Replica {
    const isReady = state === "READY" || state === "SUSPECT";
    const beganAt = this.#next.wakingSince ?? this.#now;
    if (isReady) this.#change({ idleSince: Math.max(this.#next.idleSince, this.#now) });
    const readyAt = isReady ? this.#now : null;
    const arrived = { id, state, beganAt, readyAt, closedIn: null, isLeaving };
    return makesWay ? { ...arrived, makesWay } : arrived;
  }

  #noteWake(tookMs: number, tier: WakeTier): void {
    const kept = (before: readonly number[]) => withNewest(before, tookMs);
    const wakesMs = kept(this.#next.wakesMs);
    const { tierWakesMs = { asleep: [], cold: [] } } = this.#next;
    this.#change({ tierWakesMs: { ...tierWakesMs, [tier]: kept(tierWakesMs[tier]) } });
    const idleSince = Math.max(this.#next.idleSince, this.#now);
    // Failures stay: one that loads and dies at once, again and again, is no better.
    this.#change({ wakesMs, brokenUntil: null, idleSince });
  }

  /** Each wake once, however often it is told. */
  #noteWait({ generation, from, ms }: WokenCall): void {
    const { generation: last, tierMs } = this.#next.waits ?? {
      ...{ generation: -1, tierMs: { asleep: [], cold: [] } },
    };
    if (generation <= last) return;
    const tier = from === "SLEEPING" ? "asleep" : "cold";
    const all = { ...tierMs, [tier]: withNewest(tierMs[tier], ms) };
    this.#change({ waits: { generation, tierMs: all } });
  }

  /** It ended without having been asked to: a failed wake, unless it had served for a while. */
  #noteEnd(replica: Replica): void {
    if (isEnding(replica) || replica.state === "SLEEPING") return;
    const { readyAt } = replica;
    if (readyAt !== null && this.#now - readyAt >= SCALING.residenceMs) return;
    const from = this.#now - SCALING.breakerWindowMs;
    const failures = [...this.#next.failures, this.#now].filter((at) => at > from);
    const wasTry = this.#next.brokenUntil !== null;
    const isBroken = wasTry || failures.length >= SCALING.failuresOfBreaker;
    this.#change({ failures });
    if (!isBroken) return;
    this.#change({ brokenUntil: this.#now + SCALING.tryEveryMs });
    if (this.#next.due > 0) this.#place(0);
  }

  #putAway(replica: Replica): void {
    const isLast = this.#in(...SERVING).length === 0;
    if (this.#policy.sleeps && isLast && !replica.isLeaving) this.#sleep(replica);
    else this.#stop(replica);
  }

  #close(replica: Replica): void {
    const closedIn = this.#before.generation + 1;
    this.#replace({ ...replica, state: "DRAINING", closedIn, closedAt: this.#now });
  }

  #open(replica: Replica): void {
    const { closedAt: _closedAt, ...open } = replica;
    this.#replace({ ...open, state: "READY", closedIn: null });
  }

  #sleep(replica: Replica): void {
    this.#effects.push({ kind: "sleep", replica: replica.id });
    this.#replace({ ...replica, state: "SLEEPING", readyAt: null });
  }

  #stop(replica: Replica): void {
    this.#effects.push({ kind: "stop", replica: replica.id });
    this.#replace({ ...replica, state: "STOPPING" });
  }

  #place(due: number): void {
    this.#effects.push({ kind: "place", due });
    this.#change({ due });
  }

  #coming(): number {
    return startingOf(this.#next);
  }

  #in(...states: readonly ReplicaState[]): Replica[] {
    return this.#next.replicas.filter(({ state }) => states.includes(state));
  }

  #replace(replica: Replica): void {
    const replicas = this.#next.replicas.map((other) =>
      other.id === replica.id ? replica : other,
    );
    this.#change({ replicas });
  }

  #change(change: Partial<Deployment>): void {
    this.#next = { ...this.#next, ...change };
  }
}

function isEnding({ state }: Replica): boolean {
  return state === "STOPPING" || state === "LOST";
}

function demandOf(load: Load): Demand {
  const { requestsPerSecond = null, deviceUse = null } = load;
  return { calls: callsOf(load), requestsPerSecond, deviceUse };
}

export function callsOf({ queued, inFlight }: Load): number {
  return Object.values(inFlight).reduce((sum, count) => sum + count, queued);
}

function view(replicas: readonly Replica[]): string {
  return JSON.stringify(replicas.map(({ id, state, closedIn }) => [id, state, closedIn]));
}

function withNewest(times: readonly number[], ms: number): number[] {
  return [...times, ms].slice(-SCALING.wakesKept);
}

/**
 * What a call that came now would wait for its first byte, in milliseconds: the median of what callers waited after the last wakes from where the
 * deployment is; of what the wakes themselves took where no caller has waited yet. Null where nobody has seen one.
 */
export function expectedWakeMs(deployment: Deployment): number | null {
  const { state, replicas, tierWakesMs, waits } = deployment;
  if (state !== "SLEEPING" && state !== "COLD" && state !== "WAKING") return null;
  const tier = replicas.some(
    (replica) => replica.state === "SLEEPING" || replica.wasAsleep === true,
  )
    ? "asleep"
    : "cold";
  const waited = waits?.tierMs[tier] ?? [];
  const seen = waited.length > 0 ? waited : (tierWakesMs?.[tier] ?? []);
  const sorted = seen.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
