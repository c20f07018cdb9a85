import type { ControlReply, ControlRequest } from "@resontech/contracts/control-protocol";
import { askCoordinator } from "../first-boot/ask-coordinator.ts";
import type { PartContext } from "../parts/context.ts";

/** Asks the coordinator something on the operator's behalf. */
export type AskOperator = <V extends ControlRequest["verb"]>(
  request: Extract<ControlRequest, { verb: V }>,
) => Promise<Extract<ControlReply, { verb: V }>>;

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
  return (request) => askCoordinator(openContext().layout.run("coordinator", "control"), request);
}
