/** `appliance approvals …`, and how other commands are given two people's word. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { ApprovalProof } from "@resontech/contracts/approval-proof";
import type { Command } from "commander";
import { Value } from "typebox/value";
import { leaves } from "../audit/command-audit.ts";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import type { OperatorShell } from "./ask-operator.ts";

/** A command was given nobody's word, or a file that is none. */
export class ProofError extends Error {
  override readonly name = "ProofError";
  readonly code: "approval_required" | "proof_invalid";
  readonly hint: string;

  constructor(code: ProofError["code"], message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

export type ProofOptions = { approval?: string; proof?: string };

export function addApprovalCommands(program: Command, { ask, print }: OperatorShell): void {
  const approvals = program
    .command("approvals")
    .description("requests that two people agreed to, by their signatures");
  leaves(approvals.command("proof <request>"), {
    event: "admin.control",
    loggedBy: "coordinator",
  })
    .description(
      "show both signatures of an approved request: for --proof, and for an auditor who compares their digests with the log's",
    )
    .action(async (approval: string) => {
      const { proof } = await ask("approval-proof", { approval });
      const tokens = [proof.requested, ...(proof.approved === null ? [] : [proof.approved])];
      const signatures = tokens.map(({ token }) =>
        createHash("sha256").update(token).digest("hex"),
      );
      print({ proof, signatures });
    });
}

/** Adds the two ways in which a command is given an approval. */
export function approved(command: Command): Command {
  return command
    .option("--approval <request>", "the request that was signed and approved, such as a_7c30…")
    .option("--proof <file>", "its signatures, as `appliance approvals proof` shows them");
}

/** @throws ProofError, or what the coordinator refuses */
export async function proofOf(
  ask: AskOperator,
  { approval, proof }: ProofOptions,
): Promise<ApprovalProof> {
  if (proof !== undefined) return proofIn(proof);
  if (approval === undefined)
    throw new ProofError(
      "approval_required",
      "this takes a request that people signed",
      "Ask for it and sign at /dashboard/approvals, have it approved where that takes somebody else, and repeat the command with --approval.",
    );
  return (await ask("approval-proof", { approval })).proof;
}

function proofIn(file: string): ApprovalProof {
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const proof: unknown =
    typeof found === "object" && found !== null && "proof" in found ? found.proof : null;
  if (Value.Check(ApprovalProof, proof)) return proof;
  throw new ProofError(
    "proof_invalid",
    `${file} holds no proof of an approval`,
    "Write it by: appliance approvals proof REQUEST > FILE",
  );
}
