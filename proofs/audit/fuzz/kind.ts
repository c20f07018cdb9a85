/** One way to make inputs: a beginning, changes of it, and what the verifier is given. A change of what was changed before is one as well. */
import type { Dice } from "./dice.ts";
import type { Input } from "./input.ts";

export type Kind<State> = {
  begin: (dice: Dice) => State;
  /** Leaves the state before as it is. */
  change: (state: State, dice: Dice) => State;
  input: (state: State, dice: Dice) => Input;
};
