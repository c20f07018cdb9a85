import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import type { MemberState, MemberStore } from "./member-record.ts";

/**
 * A member's record and the spool of its reports: what changes and what is told of it reach the disk in one write, and what of it belongs into
 * the audit log stands in the node's own journal before: after a crash in between it is said twice, never not at all.
 */
export class MemberJournal {
  readonly #store: MemberStore;
  readonly #state: MemberState;
  readonly #onReport: () => void;
  readonly #record: (desired: DesiredMember, event: MemberEvent) => void;
  readonly #unrecorded: MemberEvent[] = [];
  #isForgotten = false;

  constructor(
    store: MemberStore,
    state: MemberState,
    onReport: () => void,
    record: (desired: DesiredMember, event: MemberEvent) => void,
  ) {
    this.#record = record;
    this.#store = store;
    this.#state = state;
    this.#onReport = onReport;
  }

  get state(): Readonly<MemberState> {
    return this.#state;
  }

  /** Notes a change and spools reports of it; durable when it returns. */
  note(
    change: Partial<Omit<MemberState, "desired" | "pending" | "nextSeq">>,
    ...events: MemberEvent[]
  ): void {
    Object.assign(this.#state, change);
    const { member, fence } = this.#state.desired;
    const at = new Date().toISOString();
    for (const event of events) {
      this.#state.pending.push({ member, fence, seq: this.#state.nextSeq, at, event });
      this.#state.nextSeq += 1;
    }
    this.#unrecorded.push(...events);
    this.#save();
    if (events.length > 0) this.#onReport();
  }

  /** How far was read where nothing was found to tell: it goes to the disk with the next change, and is read again after a crash. */
  passOver(eventsOffset: number): void {
    this.#state.eventsOffset = eventsOffset;
  }

  /** The same of metrics among what the member printed. */
  readMetrics(metricsOffset: number): void {
    this.#state.metricsOffset = metricsOffset;
  }

  /** What desired may change under a fence. */
  follow(change: Pick<DesiredMember, "bridge" | "wish">): void {
    this.#state.desired = { ...this.#state.desired, ...change };
    this.#save();
  }

  /** The first `count` reports were taken, or will never be. */
  settle(count: number): void {
    this.#state.pending.splice(0, count);
    this.#save();
  }

  /** Deletes the record and all that lies beside it; an answer that comes later finds nobody. */
  forget(): void {
    this.#isForgotten = true;
    this.#store.forget(this.#state.desired.member);
  }

  #save(): void {
    // What the disk did not take is tried again with the next write.
    for (let [event] = this.#unrecorded; event !== undefined; [event] = this.#unrecorded) {
      this.#record(this.#state.desired, event);
      this.#unrecorded.shift();
    }
    if (!this.#isForgotten) this.#store.save(this.#state);
  }
}
