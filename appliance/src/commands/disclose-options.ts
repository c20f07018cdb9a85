/** Options of an export that opens what people's entries hold. */
import { EXIT } from "@resontech/contracts/exit-codes";
import type { Command } from "commander";
import { approved, proofOf, type ProofOptions } from "./approval-commands.ts";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import type { Disclosure } from "./audit-export.ts";
import { collected } from "@resontech/frame/collected";

export type DiscloseOptions = ProofOptions & { disclose: string[]; receiver?: string };

export function withDisclosure(command: Command): Command {
  return approved(
    command
      .option(
        "--disclose <subject>",
        "open what this person's entries hold, by the signatures of two people, which the vault checks; may be given several times",
        collected,
        [],
      )
      .option("--receiver <id>", "with --disclose: who gets the file"),
  ).addHelpText(
    "after",
    "\nExample:\n  appliance audit export --out audit.tar --disclose u_4f… --receiver auditor-3 --approval a_7c30…",
  );
}

/**
 * Null when nothing is to be disclosed; ends the command as wrong usage when only a part of it is said.
 * @throws ProofError, or what the coordinator refuses
 */
export async function disclosureOf(
  command: Command,
  ask: AskOperator,
  { disclose, receiver, ...word }: DiscloseOptions,
): Promise<Disclosure | null> {
  const isAsked = receiver !== undefined || word.approval !== undefined || word.proof !== undefined;
  if (disclose.length === 0 && !isAsked) return null;
  if (disclose.length === 0 || receiver === undefined)
    return command.error(
      "--disclose and --receiver belong together, and --approval or --proof to them",
      { exitCode: EXIT.usage },
    );
  return { subjects: disclose, receiver, approval: await proofOf(ask, word) };
}
