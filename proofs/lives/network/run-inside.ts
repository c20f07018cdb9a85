/** A proof's part that runs in a network of its own: the same proof once more, by a process that was entered there, asked by its arguments. */
import { join } from "node:path";
import { runChild } from "@resontech/house/run-child";
import type { ProofResult } from "../../proof.ts";

const INSIDE = "--inside";

/** @returns what the process outside built, where this process is the one inside */
export function builtOutside([flag, built]: readonly string[]): unknown {
  return flag === INSIDE && built !== undefined ? JSON.parse(built) : undefined;
}

/** @param built what is needed inside, as it goes through JSON @param enter makes of a command one that runs inside */
export async function runInside(
  proof: string,
  built: object,
  enter: (command: readonly string[]) => [program: string, args: string[]],
): Promise<ProofResult> {
  const main = join(import.meta.dirname, "..", "..", "main.ts");
  const output = await runChild(
    ...enter([process.execPath, main, proof, INSIDE, JSON.stringify(built)]),
  ).catch((error: unknown) => {
    throw new Error("the part inside failed; its last line above says more", { cause: error });
  });
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as ProofResult;
}
