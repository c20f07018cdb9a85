import type { AskOperator, OperatorVerb } from "@resontech/contracts/operator-routes";
import { coordinatorAt } from "../first-boot/ask-coordinator.ts";
import type { PartContext } from "../parts/context.ts";

/** What groups of commands share: the way to the coordinator, and how their answers are shown. */
export type OperatorShell = {
  openContext: () => PartContext;
  ask: AskOperator;
  /** One JSON line. */
  print: (value: unknown) => void;
  /** A table that fits the terminal. */
  table: (head: readonly string[], rows: readonly (readonly string[])[], none: string) => void;
  /** One line of words. */
  say: (line: string) => void;
};

export function askOperator(openContext: () => PartContext): AskOperator {
  return (verb, ...asked) =>
    coordinatorAt(openContext().layout.run("coordinator", "control"))(verb, ...asked);
}

/** How the JSON of a command that shows an answer as it came has begun in each release. */
export function printedAnswer<A extends object>(
  verb: OperatorVerb,
  answer: A,
): { ok: true; verb: OperatorVerb } & A {
  return { ok: true, verb, ...answer };
}
