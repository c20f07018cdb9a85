/**
 * The verifier's own platform, which asks the runtime once about a signature and remembers what it said: most flips leave every
 * signature as it was, and to judge those again takes longer than all the rest of a small export.
 */
import { createHash } from "node:crypto";
import { nodePlatform } from "@resontech/verifier/judge";

export function rememberingPlatform(): typeof nodePlatform {
  const answers = new Map<string, boolean | null>();
  return {
    ...nodePlatform,
    verify: async (algorithm, publicKey, message, signature) => {
      const digest = createHash("sha256").update(algorithm);
      for (const part of [publicKey, message, signature])
        digest.update(`\0${part.length}\0`).update(part);
      const asked = digest.digest("base64");
      const known = answers.get(asked);
      if (known !== undefined) return known;
      const answer = await nodePlatform.verify(algorithm, publicKey, message, signature);
      answers.set(asked, answer);
      return answer;
    },
  };
}
