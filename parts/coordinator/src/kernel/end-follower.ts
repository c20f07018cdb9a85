import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Transitions } from "./transitions.ts";

/** So many ended jobs are looked at in one transaction. */
const ENDS_AT_ONCE = 32;

type Parts = {
  commit: GroupCommit;
  transitions: Pick<Transitions, "followEnds">;
  onError: (error: unknown) => void;
};

/**
 * Goes on along a chain of jobs of which one ended, a piece in each transaction, so that others are answered between two. Rows say what is left: a restart
 * finds it again (`followMissedEnds`).
 */
export class EndFollower {
  readonly #parts: Parts;
  readonly #round = new SharedRun();
  readonly #ended = new Set<string>();
  #isStopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns at once. @param ended jobs of whose ends not all followers have heard */
  follow(ended: readonly string[]): void {
    for (const id of ended) this.#ended.add(id);
    this.resume();
  }

  /** Goes on where a write had failed; without effect where nothing is left. */
  resume(): void {
    if (this.#ended.size > 0)
      void this.#round.run(() => this.#followAll().catch(this.#parts.onError));
  }

  /** Ends once all have heard. */
  async idle(): Promise<void> {
    await this.#round.idle();
  }

  /** What is left is found again by the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#round.idle();
  }

  async #followAll(): Promise<void> {
    const { commit, transitions } = this.#parts;
    while (this.#ended.size > 0 && !this.#isStopped) {
      const some = [...this.#ended].slice(0, ENDS_AT_ONCE);
      for (const id of some) this.#ended.delete(id);
      try {
        await commit.run(() => transitions.followEnds(some));
      } catch (error) {
        for (const id of some) this.#ended.add(id);
        throw error;
      }
    }
  }
}
