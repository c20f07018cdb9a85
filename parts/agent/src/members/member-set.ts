/**
 * The members of this node: fetches what is desired, compares, carries out. One piece of work at a time for each member: while one is torn
 * down, nothing else is decided about it, and its end wakes the comparison.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type {
  DesiredMember,
  DesiredReply,
  RegisterRequest,
} from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import { RefusedError } from "../bus/refused-error.ts";
import type { Failure } from "../decisions/container-end.ts";
import { reconcile, type Step } from "../decisions/reconcile.ts";
import { Wake } from "../wake.ts";
import { Member } from "./member.ts";
import type { MemberTools } from "./member-context.ts";
import type { MemberJournal } from "./member-journal.ts";

/** The whole set is compared at least this often, hints or not. */
const COMPARE_MS = 30_000;
const RETRY_MS = 1_000;

const DISK_FULL: Failure = { reason: "node_disk_full", message: "the disk of the node was full" };
const NETWORK_OPEN: Failure = {
  reason: "agent_fault",
  message: "the host could not be kept closed to the networks of its jobs",
};
const LEASE_LOST: Failure = {
  reason: "lease_lost",
  message: "the coordinator was out of reach for a whole lease",
};

export class MemberSet {
  readonly #tools: MemberTools;
  readonly #mayStart: () => boolean;
  readonly #members = new Map<string, Member>();
  /** Members that are being torn down. */
  readonly #busy = new Set<string>();
  readonly #wake = new Wake();
  #version: number | null = null;

  constructor(tools: MemberTools, mayStart: () => boolean) {
    this.#tools = tools;
    this.#mayStart = mayStart;
  }

  /** Takes up what a former agent process had begun, and removes what no record knows. */
  async resume(signal: AbortSignal): Promise<void> {
    const { store, log } = this.#tools;
    const states = store.load((member, why) =>
      log.warn(
        { member, why },
        "a member is given up, for this release can't go on with its record",
      ),
    );
    await this.#sweep(
      new Map(states.map(({ desired }) => [desired.member, formatFence(desired.fence)])),
      signal,
    );
    for (const state of states) {
      log.info({ member: state.desired.member, phase: state.phase }, "going on with a member");
      this.#members.set(state.desired.member, Member.resume(this.#tools, state));
    }
  }

  held(): RegisterRequest["held"] {
    return [...this.#members.values()]
      .filter(({ isReleased }) => !isReleased)
      .map(({ desired }) => ({ member: desired.member, fence: desired.fence }));
  }

  /** Workers that members have, or have yet to give back. */
  workersHeld(): Set<string> {
    const held = [...this.#members.values()].filter(({ isReleased }) => !isReleased);
    return new Set(held.flatMap(({ desired }) => desired.resources.workers));
  }

  journals(): MemberJournal[] {
    return [...this.#members.values()].map(({ journal }) => journal);
  }

  /** Looks soon: something has changed, or may have. */
  look(): void {
    this.#wake.now();
  }

  /** Looks soon unless this version was carried out. */
  lookFor(version: number): void {
    if (version !== this.#version) this.look();
  }

  /** The lease is lost. */
  stopAll(): void {
    for (const [name, member] of this.#members)
      this.#tearDown(name, () => member.abandon(LEASE_LOST));
  }

  /** What the members write would soon find no room. */
  endForFullDisk(): void {
    this.#endAll(DISK_FULL);
  }

  /** What runs could reach the host. */
  endForOpenNetwork(): void {
    this.#endAll(NETWORK_OPEN);
  }

  /** Its fence was withdrawn. */
  withdraw(name: string): void {
    const member = this.#members.get(name);
    if (member !== undefined) this.#tearDown(name, () => member.abandon(null));
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = COMPARE_MS;
      try {
        await this.#compare();
      } catch (error) {
        // Registering wakes us; until then there is nothing to ask.
        const isEarly = error instanceof RefusedError && error.code === "stale_epoch";
        if (!signal.aborted && !isEarly)
          this.#tools.log.warn({ err: error }, "the desired set was not had");
        waitMs = RETRY_MS;
      }
      await this.#wake.within(waitMs, signal);
    }
  }

  async #compare(): Promise<void> {
    const { version, members, cache } = await this.#tools.coordinator.desired();
    const isOthersGone = await this.#keepFor(cache);
    const desired = members.filter(({ member }) => !this.#busy.has(member));
    for (const member of desired) this.#members.get(member.member)?.follow(member);
    const local = [...this.#members]
      .filter(([name]) => !this.#busy.has(name))
      .map(([, member]) => member.local);
    const mayStart = isOthersGone && this.#mayStart();
    for (const step of reconcile(desired, local, mayStart)) this.#carryOut(step);
    // What may not begin yet is still to be carried out: the next beat that is answered, and with it the lease renewed, looks again.
    this.#version = mayStart ? version : null;
  }

  /** False while inputs of another owner are left: nobody else begins beside them. */
  async #keepFor(cache: DesiredReply["cache"]): Promise<boolean> {
    try {
      await this.#tools.cache.follow(cache);
      return true;
    } catch (error) {
      this.#tools.log.error({ err: error }, "inputs of a former owner could not be removed");
      return false;
    }
  }

  #carryOut(step: Step): void {
    const { log } = this.#tools;
    log.debug(
      { do: step.do, member: "desired" in step ? step.desired.member : step.member },
      "step",
    );
    switch (step.do) {
      case "start":
        this.#members.set(step.desired.member, Member.begin(this.#tools, step.desired));
        return;
      case "clear":
        this.#tearDown(step.desired.member, () => this.#clear(step.desired));
        return;
      case "stop":
        this.#members.get(step.member)?.stop(step.reason, step.graceMs);
        return;
      case "commit":
        this.#members.get(step.member)?.commit(step.reason, step.graceMs);
        return;
      case "supersede":
      case "kill":
        this.#tearDown(step.member, async () => {
          await this.#members.get(step.member)?.abandon(null);
          await this.#forget(step.member);
        });
        return;
      case "forget":
        this.#tearDown(step.member, () => this.#forget(step.member));
    }
  }

  #endAll(failure: Failure): void {
    for (const [name, member] of this.#members)
      if (!member.isReleased) this.#tearDown(name, () => member.abandon(failure));
  }

  #tearDown(name: string, work: () => Promise<void>): void {
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    work()
      .catch(async (error: unknown) => {
        this.#tools.log.error({ err: error, member: name }, "a member could not be ended");
        await sleep(RETRY_MS);
      })
      .finally(() => {
        this.#busy.delete(name);
        this.look();
      });
  }

  /** Only once the older incarnation has let go of everything does the newer one say so. */
  async #clear(desired: DesiredMember): Promise<void> {
    await this.#members.get(desired.member)?.abandon(null);
    this.#members.set(desired.member, Member.clear(this.#tools, desired));
  }

  async #forget(name: string): Promise<void> {
    const { substrate, tailLimit } = this.#tools;
    const member = this.#members.get(name);
    if (member === undefined) return;
    // Its folder is deleted with all that is in it; what is on its disk is the job's, and not ours to walk through.
    await substrate.discardArea(name);
    this.#members.delete(name);
    member.journal.forget();
    const { attempt, job } = member.desired;
    const others = [...this.#members.values()].map(({ desired }) => desired);
    if (!others.some((other) => other.job === job)) tailLimit.forget(job);
    if (!others.some((other) => other.attempt === attempt)) await substrate.discardNetwork(attempt);
  }

  /** Enclosures, areas and networks of this instance that belong to no member as it is recorded. */
  async #sweep(known: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
    const { substrate, store, log } = this.#tools;
    for (const found of await substrate.list(signal)) {
      if (known.get(found.member) === found.fence) continue;
      log.warn({ container: found.name }, "removing a container that no record knows");
      await substrate.discard(found, signal);
    }
    for (const name of store.names()) {
      if (known.has(name)) continue;
      log.warn({ member: name }, "removing what is left of a member that no record knows");
      await substrate.discardArea(name);
      store.forget(name);
    }
    const attempts = new Set(store.load().map(({ desired }) => desired.attempt));
    await substrate.keepNetworks(attempts, signal);
  }
}
