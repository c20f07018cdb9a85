import type { MemberBridge, MemberEvent } from "@resontech/contracts/agent-protocol";
import type { MemberState, MemberStore } from "./member-record.ts";

/** A member's record and the spool of its reports: what changes and what is told of it reach the disk in one write. */
export class MemberJournal {
  readonly #store: MemberStore;
  readonly #state: MemberState;
  readonly #onReport: () => void;
  #isForgotten = false;

  constructor(store: MemberStore, state: MemberState, onReport: () => void) {
    this.#store = store;
    this.#state = state;
    this.#onReport = onReport;
  }

  get state(): Readonly<MemberState> {
    return this.#state;
  }

  /** Notes a change and spools reports of it; durable when it returns. */
  note(change: Partial<Omit<MemberState, "desired" | "pending" | "nextSeq">>, ...events: MemberEvent[]): void {
    Object.assign(this.#state, change);
    const { member, fence } = this.#state.desired;
    const at = new Date().toISOString();
    for (const event of events) {
      this.#state.pending.push({ member, fence, seq: this.#state.nextSeq, at, event });
      this.#state.nextSeq += 1;
    }
    this.#save();
    if (events.length > 0) this.#onReport();
  }

  /** The one thing desired that may change under a fence. */
  noteBridge(bridge: MemberBridge): void {
    this.#state.desired = { ...this.#state.desired, bridge };
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
    if (!this.#isForgotten) this.#store.save(this.#state);
  }
}
