import { createInterface } from "node:readline/promises";

/** The operator did not agree, or nobody is there to ask. */
export class NotConfirmedError extends Error {
  readonly code = "not_confirmed";
  readonly hint = "run the same command again and agree, or add --yes";
}

/** @throws NotConfirmedError */
export async function confirm(question: string, wanted: RegExp): Promise<void> {
  if (!process.stdin.isTTY)
    throw new NotConfirmedError("this would change the host, and nobody is there to ask");
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if (!wanted.test((await prompt.question(question)).trim()))
      throw new NotConfirmedError("not agreed to; nothing was changed");
  } finally {
    prompt.close();
  }
}
