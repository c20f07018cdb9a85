/** How many workers one person may have at a time: below each share that limits it, whichever is passed first. Pure: a working copy of one cycle. */
import { pathOf, type Share } from "./shares.ts";

/** A program of a project counts as the person who answers for it. By its id, that of the person. */
export type PersonsBehind = ReadonlyMap<string, string>;
type Of = { project: string; userId: string };
/** @property share whose limit it is */
export type PassedPersonLimit = { share: string; limit: number };

export class PersonLedger {
  readonly #shares: ReadonlyMap<string, Share>;
  readonly #persons: PersonsBehind;
  readonly #held = new Map<string, number>();
  readonly #paths = new Map<string, readonly Share[]>();
  readonly #isSet: boolean;

  constructor(shares: readonly Share[], persons: PersonsBehind = new Map()) {
    this.#shares = new Map(shares.map((share) => [share.id, share]));
    this.#persons = persons;
    this.#isSet = shares.some(({ personRunning }) => personRunning != null);
  }

  /** @param workers how many it has */
  hold(of: Of, workers: number): void {
    if (!this.#isSet) return;
    for (const share of this.#limiting(of.project))
      this.#held.set(this.#key(share, of), this.#heldOf(share, of) + workers);
  }

  release(of: Of, workers: number): void {
    this.hold(of, -workers);
  }

  /** The first limit on the way up that the person would pass with so many workers more; null when none would be. */
  limitOver(of: Of, workers: number): PassedPersonLimit | null {
    if (!this.#isSet) return null;
    for (const share of this.#limiting(of.project))
      if (this.#heldOf(share, of) + workers > share.personRunning!)
        return { share: share.id, limit: share.personRunning! };
    return null;
  }

  #limiting(project: string): readonly Share[] {
    let path = this.#paths.get(project);
    if (path === undefined)
      this.#paths.set(
        project,
        (path = pathOf(this.#shares, project).filter(({ personRunning }) => personRunning != null)),
      );
    return path;
  }

  #heldOf(share: Share, of: Of): number {
    return this.#held.get(this.#key(share, of)) ?? 0;
  }

  #key({ id }: Share, { userId }: Of): string {
    return `${id} ${this.#persons.get(userId) ?? userId}`;
  }
}
