/** `--approver`, given twice. */
import { EXIT } from "@resontech/contracts/exit-codes";
import type { Command } from "commander";

/** Ends the command as wrong usage unless exactly two are named. */
export function two(command: Command, [one, other, ...rest]: readonly string[]): [string, string] {
  if (one === undefined || other === undefined || rest.length > 0)
    return command.error("--approver must be given exactly twice", { exitCode: EXIT.usage });
  return [one, other];
}
