/** A call's place at a replica: kept until the call ends, and changed once where nobody is there to take it. */
import type { Route } from "@resontech/contracts/inference-routes";
import type { Replica, Woken } from "./admission.ts";
import type { Admissions } from "./admissions.ts";
import { ReplicaUnreached } from "./dial-replica.ts";
import type { HangUp } from "./hang-up.ts";

export class Place implements Disposable {
  readonly route: Route;
  readonly #admissions: Pick<Admissions, "enter" | "leave" | "noteUnreached" | "noteAnswer">;
  readonly #gone: HangUp;
  #replica: Replica;
  /** Null where no wake was for this call, or once its answer is noted. */
  #woken: Woken | null;
  #isHeld = true;

  /** @param replica which the admissions have given the call @param gone whoever made the call waits no longer */
  constructor(
    admissions: Pick<Admissions, "enter" | "leave" | "noteUnreached" | "noteAnswer">,
    {
      route,
      replica,
      gone,
      woken,
    }: { route: Route; replica: Replica; gone: HangUp; woken?: Woken },
  ) {
    this.#admissions = admissions;
    this.route = route;
    this.#replica = replica;
    this.#gone = gone;
    this.#woken = woken ?? null;
  }

  /** Which has the call, or had it last. */
  get replica(): Replica {
    return this.#replica;
  }

  /**
   * Asks the replica; where it can't be reached, and so nothing was sent, the deployment's admission is asked for a place once more.
   * @throws what `ask` does
   */
  async reach<Answer>(ask: (replica: Replica) => Promise<Answer>): Promise<Answer> {
    try {
      return await ask(this.#replica);
    } catch (error) {
      if (!(error instanceof ReplicaUnreached) || !(await this.#change())) throw error;
      return await ask(this.#replica);
    }
  }

  /** The first byte of an answer leaves now. */
  noteAnswer(): void {
    if (this.#woken !== null) this.#admissions.noteAnswer(this.route.deployment, this.#woken);
    this.#woken = null;
  }

  [Symbol.dispose](): void {
    if (this.#isHeld) this.#admissions.leave(this.route.deployment, this.#replica);
    this.#isHeld = false;
  }

  async #change(): Promise<boolean> {
    const { deployment } = this.route;
    this.#admissions.noteUnreached(deployment, this.#replica);
    this[Symbol.dispose]();
    const admitted = await this.#admissions.enter(deployment, this.#gone);
    if (admitted === null || !("replica" in admitted)) return false;
    this.#replica = admitted.replica;
    this.#isHeld = true;
    return true;
  }
}
