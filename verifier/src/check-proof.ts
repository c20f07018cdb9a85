/** The proof of one event, checked in a browser: for a page that shows an entry. Whoever serves that page can change it, so it is no independent check. */
import { type ProofReport, verifyProof } from "./event-proof.ts";
import { webPlatform } from "./platform/platform-web.ts";

export type { ProofReport } from "./event-proof.ts";

/** @param policy the auditor's own; null: what only a key can tell is SELF-ASSERTED */
export async function checkProof(proof: string, policy: string | null): Promise<ProofReport> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  return await verifyProof(bytes(proof), policy === null ? null : bytes(policy), webPlatform);
}
