/**
 * Who may be led to a replica of one deployment now, who waits, and who is refused. Without clock, timer or socket: time comes in and verdicts go out.
 * A replica that the coordinator has closed is given nothing new from the moment that its word is taken, so what {@link Admission.counts} says of it
 * can only fall.
 */
import type { CallCounts, Route, WokenCall } from "@resontech/contracts/inference-routes";

export type Replica = Route["replicas"][number];

/** Where every replica has as many as it takes, a call waits: long enough for another one to be placed and loaded. */
const BUSY_MS = 30_000;
/** However short wakes are: the coordinator looks at times, and so do nodes. */
const LEAST_WAKE_WAIT_MS = 5_000;
/** Nobody waits longer, for a wake or whatever comes after it. */
const MAX_WAIT_MS = 60_000;
const WAKES_WAITED = 2;
const MAX_WAITING = 256;

export type Refused =
  /** As many wait as may. */
  | "queue_full"
  /** Replicas are there, and were busy for too long. */
  | "busy"
  /** The wake took too long. */
  | "still_waking"
  /** Wakes have failed so often that none is tried now. */
  | "load_failed"
  /** It is not there any more. */
  | "gone"
  /** Another deployment has taken its place: the call is to be made there. */
  | "moved"
  /** This gateway ends, and another one follows. */
  | "restarting";
/** A wake was for this call, which tells when it is answered. */
export type Woken = Pick<WokenCall, "generation" | "from"> & { arrivedAt: number };
export type Verdict<Call> =
  | { call: Call; replica: Replica; woken?: Woken }
  | { call: Call; refused: Refused; retryAfterS: number };

type Waiting<Call> = {
  call: Call;
  arrivedAt: number;
  until: number;
  isForWake: boolean;
  /** What the first call of a wake met. */
  met: WokenCall["from"] | null;
};

export class Admission<Call> {
  #route: Route;
  #waiting: Waiting<Call>[] = [];
  readonly #underWay = new Map<string, number>();
  /** Those that could not be reached since the coordinator last told of them: asked where there is no other. */
  readonly #unreached = new Set<string>();
  #lastEndAt: number | null = null;
  #woken: WokenCall | null = null;

  constructor(route: Route) {
    this.#route = route;
  }

  /** From here on the deployment is as the coordinator says. */
  follow(route: Route, now: number): Verdict<Call>[] {
    this.#route = route;
    this.#unreached.clear();
    // Whoever waited for a wake has his turn behind others yet; whoever waited for his turn may have to wait for a wake.
    const isForWake = this.#isForWake();
    const until = now + this.#waitMs(isForWake);
    this.#waiting = this.#waiting.map((one) =>
      one.isForWake === isForWake
        ? one
        : {
            ...{ ...one, isForWake },
            until: Math.min(one.arrivedAt + MAX_WAIT_MS, Math.max(one.until, until)),
          },
    );
    return route.state === "FAILED" || route.state === "STOPPED"
      ? this.#refuseAll(route.state === "FAILED" ? "load_failed" : "gone")
      : this.#lead();
  }

  /** Nobody is led on from here. */
  close(refused: "gone" | "moved" | "restarting"): Verdict<Call>[] {
    return this.#refuseAll(refused);
  }

  /** Its verdict, where there is one at once; else it waits. */
  arrive(call: Call, now: number): Verdict<Call>[] {
    const { state } = this.#route;
    if (state === "FAILED") return [this.#refusal(call, "load_failed")];
    if (state === "STOPPED") return [this.#refusal(call, "gone")];
    const isForWake = this.#isForWake();
    const until = now + this.#waitMs(isForWake);
    const isFirst = this.#waiting.length === 0 && (state === "SLEEPING" || state === "COLD");
    const met = isFirst ? state : null;
    this.#waiting.push({ call, arrivedAt: now, until, isForWake, met });
    const led = this.#lead();
    if (this.#waiting.length <= MAX_WAITING) return led;
    this.#waiting.pop();
    return [...led, this.#refusal(call, "queue_full")];
  }

  /** Whoever made the call waits no longer. */
  withdraw(call: Call): void {
    this.#waiting = this.#waiting.filter((other) => other.call !== call);
  }

  /** A call that was led there has ended. */
  end(member: string, now: number): Verdict<Call>[] {
    const left = (this.#underWay.get(member) ?? 0) - 1;
    if (left > 0) this.#underWay.set(member, left);
    else this.#underWay.delete(member);
    this.#lastEndAt = now;
    return this.#lead();
  }

  /** The first byte of its answer leaves now. */
  noteAnswer({ generation, from, arrivedAt }: Woken, now: number): void {
    this.#woken = { generation, from, ms: Math.max(0, Math.round(now - arrivedAt)) };
  }

  /** A call that was led there found nobody, and nothing of it was sent. */
  noteUnreached(member: string): void {
    this.#unreached.add(member);
  }

  /** Refuses those that have waited for as long as they may. */
  expire(now: number): Verdict<Call>[] {
    const late = this.#waiting.filter(({ until }) => until <= now);
    if (late.length === 0) return [];
    this.#waiting = this.#waiting.filter(({ until }) => until > now);
    return late.map(({ call, isForWake }) =>
      this.#refusal(call, isForWake ? "still_waking" : "busy"),
    );
  }

  /** When {@link expire} has something to do; null while nobody waits. */
  get nextExpiry(): number | null {
    return this.#waiting.reduce<number | null>(
      (first, { until }) => Math.min(first ?? until, until),
      null,
    );
  }

  counts(now: number): CallCounts {
    const { deployment, generation } = this.#route;
    return {
      ...{ deployment, generation, queued: this.#waiting.length },
      inFlight: [...this.#underWay].map(([member, calls]) => ({ member, calls })),
      idleMs: this.#lastEndAt === null ? null : Math.max(0, Math.round(now - this.#lastEndAt)),
      ...(this.#woken === null ? {} : { woken: this.#woken }),
    };
  }

  #isForWake(): boolean {
    return !this.#route.replicas.some(({ isOpen }) => isOpen);
  }

  #waitMs(isForWake: boolean): number {
    if (!isForWake) return BUSY_MS;
    return Math.min(Math.max(LEAST_WAKE_WAIT_MS, WAKES_WAITED * this.#route.wakeMs), MAX_WAIT_MS);
  }

  /** As many as the replicas take, the longest waiting first, each to where the fewest are under way. */
  #lead(): Verdict<Call>[] {
    const led: Verdict<Call>[] = [];
    while (this.#waiting.length > 0) {
      const replica = this.#freest();
      if (replica === null) break;
      const { call, met, arrivedAt } = this.#waiting.shift()!;
      this.#underWay.set(replica.member, this.#of(replica) + 1);
      const { generation } = this.#route;
      led.push({
        ...{ call, replica },
        ...(met === null ? {} : { woken: { generation, from: met, arrivedAt } }),
      });
    }
    return led;
  }

  #freest(): Replica | null {
    const { replicas, maxOngoingRequests } = this.#route;
    let freest: Replica | null = null;
    let least = Infinity;
    for (const replica of replicas) {
      const underWay = this.#of(replica);
      if (!replica.isOpen || underWay >= maxOngoingRequests) continue;
      const rank = underWay + (this.#unreached.has(replica.member) ? maxOngoingRequests : 0);
      if (rank >= least) continue;
      freest = replica;
      least = rank;
    }
    return freest;
  }

  #of({ member }: Replica): number {
    return this.#underWay.get(member) ?? 0;
  }

  #refuseAll(refused: Refused): Verdict<Call>[] {
    const all = this.#waiting;
    this.#waiting = [];
    return all.map(({ call }) => this.#refusal(call, refused));
  }

  #refusal(call: Call, refused: Refused): Verdict<Call> {
    return { call, refused, retryAfterS: retryAfterS(refused, this.#route.wakeMs) };
  }
}

/** Seconds, 1 to 60: some clients give up at more. */
function retryAfterS(refused: Refused, wakeMs: number): number {
  if (refused === "busy" || refused === "restarting" || refused === "moved") return 1;
  const s = refused === "load_failed" || refused === "gone" ? 60 : Math.ceil(wakeMs / 1_000);
  return Math.min(60, Math.max(1, s));
}
