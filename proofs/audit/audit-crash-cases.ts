/**
 * Power cuts at the places where they found defects once, each by name; `audit-crash` draws its places at random.
 *
 * `npm run prove -- audit-crash-cases`
 */
import { rmSync } from "node:fs";
import { temporaryRoot } from "./instances/auditd-instance.ts";
import { LONG_CASES, QUICK_CASES } from "./crash/named-cases.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const cases = Object.entries({ ...QUICK_CASES, ...LONG_CASES });
  const broken: string[] = [];
  for (const [name, run] of cases) {
    const root = temporaryRoot();
    try {
      const found = await run(root);
      progress(`${found.length === 0 ? "holds" : "BROKEN"}: ${name}`);
      broken.push(...found.map((line) => `${name}: ${line}`));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return { ok: broken.length === 0, figures: { cases: cases.length, broken } };
}
