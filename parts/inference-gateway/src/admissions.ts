/** The admissions of all deployments, with their clock: calls wait here until they are led to a replica, refused, or withdrawn. */
import type { CallReport, Route } from "@resontech/contracts/inference-routes";
import { Admission, type Refused, type Replica, type Verdict, type Woken } from "./admission.ts";
import type { HangUp } from "./hang-up.ts";

export type Admitted =
  | { replica: Replica; woken?: Woken }
  | { refused: Refused; retryAfterS: number };
type Call = { resolve: (admitted: Admitted) => void };

export class Admissions implements Disposable {
  readonly #of = new Map<string, Admission<Call>>();
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer ends, by the clock of performance.now; Infinity while nobody waits. */
  #expiresAt = Infinity;
  #isClosed = false;

  /** @param onChange what {@link report} says may have changed */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** From here on deployments are as the coordinator says. */
  follow(routes: readonly Route[]): void {
    const now = performance.now();
    const told = new Set(routes.map(({ deployment }) => deployment));
    for (const [deployment, admission] of this.#of)
      if (!told.has(deployment)) {
        this.#of.delete(deployment);
        this.#settle(admission.close("gone"));
      }
    for (const route of routes) {
      const admission = this.#of.get(route.deployment);
      if (admission === undefined) this.#of.set(route.deployment, new Admission(route));
      else this.#settle(admission.follow(route, now));
    }
    // Whoever waits at an address that another deployment has taken over waits there.
    for (const alias of routes.flatMap(({ aliases }) => aliases))
      this.#settle(this.#of.get(alias)?.close("moved") ?? []);
    this.#changed();
  }

  /**
   * Who takes the call, which then must {@link leave}; or why nobody does.
   * @param gone whoever made the call waits no longer: nothing comes back
   */
  enter(deployment: string, gone: HangUp): Promise<Admitted | null> {
    const admission = this.#of.get(deployment);
    if (admission === undefined) return Promise.resolve({ refused: "gone", retryAfterS: 60 });
    if (gone.isGone) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<Admitted | null>();
    const call: Call = {
      resolve(admitted) {
        gone.tell(null);
        resolve(admitted);
      },
    };
    gone.tell(() => {
      admission.withdraw(call);
      this.#changed();
      resolve(null);
    });
    this.#settle(admission.arrive(call, performance.now()));
    if (this.#isClosed) this.#settle(admission.close("restarting"));
    this.#changed();
    return promise;
  }

  /** The call that was led there has ended. */
  leave(deployment: string, { member }: Replica): void {
    const admission = this.#of.get(deployment);
    if (admission === undefined) return;
    this.#settle(admission.end(member, performance.now()));
    this.#changed();
  }

  /** The first byte of its answer leaves now. */
  noteAnswer(deployment: string, woken: Woken): void {
    this.#of.get(deployment)?.noteAnswer(woken, performance.now());
    this.#changed();
  }

  /** The call that was led there found nobody: the next ones are led elsewhere. */
  noteUnreached(deployment: string, { member }: Replica): void {
    this.#of.get(deployment)?.noteUnreached(member);
  }

  report(): CallReport {
    const now = performance.now();
    return { deployments: [...this.#of.values()].map((admission) => admission.counts(now)) };
  }

  /** Calls that wait are refused, also those that would wait from here on; those under way go on. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const admission of this.#of.values()) this.#settle(admission.close("restarting"));
  }

  #settle(verdicts: readonly Verdict<Call>[]): void {
    for (const { call, ...admitted } of verdicts) call.resolve(admitted);
  }

  #changed(): void {
    this.#onChange();
    let first = Infinity;
    for (const { nextExpiry } of this.#of.values()) first = Math.min(first, nextExpiry ?? Infinity);
    if (first === this.#expiresAt) return;
    this.#expiresAt = first;
    clearTimeout(this.#timer);
    if (first === Infinity) return;
    this.#timer = setTimeout(() => this.#expire(), Math.max(1, first - performance.now()));
  }

  #expire(): void {
    const now = performance.now();
    this.#expiresAt = Infinity;
    for (const admission of this.#of.values()) this.#settle(admission.expire(now));
    this.#changed();
  }
}
