/**
 * Inputs by number: the same samples, seed and path give the same input. A path is the numbers of an input and of those that it was changed from,
 * oldest first.
 */
import { Dice } from "./dice.ts";
import { forgedKinds } from "./forged-kinds.ts";
import { type Input, shortened } from "./input.ts";
import type { Kind } from "./kind.ts";
import { NoteKeys } from "./note-keys.ts";
import { realKinds } from "./real-kinds.ts";
import type { Samples } from "./samples.ts";

export type Path = readonly number[];
/** What an input is assembled from, and can be changed further. */
export type Made = {
  kind: string;
  changed: (dice: Dice) => Made;
  assembled: (dice: Dice) => Input;
};

const MAX_CHANGES = 6;
/** Others have 1. */
const WEIGHTS: Readonly<Record<string, number>> = {
  forged: 8,
  bytes: 3,
  members: 2,
  disclosures: 2,
  releases: 2,
  "forged proof": 2,
};

export class InputMaker {
  readonly #seed: number;
  readonly #beginnings: readonly (readonly [number, (dice: Dice) => Made])[];

  constructor(samples: Samples, seed: number) {
    this.#seed = seed;
    const forged = Object.entries(forgedKinds(samples.leaves, new NoteKeys(samples.ring)));
    const real = Object.entries(realKinds(samples));
    this.#beginnings = [
      ...forged.map(([name, kind]) => beginning(name, kind)),
      ...real.map(([name, kind]) => beginning(name, kind)),
    ];
  }

  /** @param from null: made from the samples */
  next(number: number, from: Made | null): { made: Made; input: Input } {
    const dice = Dice.numbered(this.#seed, number);
    let made = from ?? dice.weighted(this.#beginnings)(dice);
    for (let left = dice.size(MAX_CHANGES); left > 0; left--) made = made.changed(dice);
    return { made, input: shortened(made.assembled(dice)) };
  }

  at(path: Path): { made: Made; input: Input } {
    const [first = 0, ...rest] = path;
    return rest.reduce(({ made }, number) => this.next(number, made), this.next(first, null));
  }
}

function beginning<State>(
  name: string,
  kind: Kind<State>,
): readonly [number, (dice: Dice) => Made] {
  const made = (state: State): Made => ({
    kind: name,
    changed: (dice) => made(kind.change(state, dice)),
    assembled: (dice) => kind.input(state, dice),
  });
  return [WEIGHTS[name] ?? 1, (dice) => made(kind.begin(dice))];
}
