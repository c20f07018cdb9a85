/** Options of an export that opens what people's entries hold. */
import type { Command } from "commander";
import type { Disclosure } from "./audit-export.ts";
import { collected, two } from "./two-people.ts";

export type DiscloseOptions = {
  disclose: string[];
  receiver?: string;
  requester?: string;
  approver: string[];
};

export function withDisclosure(command: Command): Command {
  return command
    .option(
      "--disclose <subject>",
      "open what this person's entries hold; may be given several times",
      collected,
      [],
    )
    .option("--receiver <id>", "with --disclose: who gets the file")
    .option("--requester <id>", "with --disclose: who asks for it")
    .option(
      "--approver <id>",
      "with --disclose: one of the two who agree, given twice",
      collected,
      [],
    )
    .addHelpText(
      "after",
      "\nExample:\n  appliance audit export --out audit.tar --disclose u_4f… --receiver auditor-3 --requester u_91… --approver u_2c… --approver u_d0…",
    );
}

/** Null when nothing is to be disclosed; ends the command as wrong usage when only a part of it is said. */
export function disclosureOf(
  command: Command,
  { disclose, receiver, requester, approver }: DiscloseOptions,
): Disclosure | null {
  if (
    disclose.length === 0 &&
    receiver === undefined &&
    requester === undefined &&
    approver.length === 0
  )
    return null;
  if (disclose.length === 0 || receiver === undefined || requester === undefined)
    return command.error("--disclose, --receiver and --requester belong together", { exitCode: 2 });
  return { subjects: disclose, receiver, requester, approvers: two(command, approver) };
}
