/** SIGNATURE: who must have signed a checkpoint, and whether all of them have. */
import type { Checkpoint } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";
import type { Policy } from "./policy.ts";
import { evaluateKey } from "./signatures.ts";
import { fail, notChecked, pass, type Verdict } from "../verdicts.ts";

/** Every key that the policy lists for this origin must have signed. */
export async function evaluateSignature(
  checkpoint: Checkpoint,
  policy: Policy,
  platform: Platform,
): Promise<Verdict> {
  const keys = policy.logs.filter(({ name }) => name === checkpoint.origin);
  if (keys.length === 0)
    return fail(0, `the policy has no key for the checkpoint's origin ${checkpoint.origin}`);
  const unknown: string[] = [];
  for (const key of keys) {
    const { state } = await evaluateKey(checkpoint, key, platform);
    if (state === "missing")
      return fail(0, `the checkpoint lacks the signature of key ${key.keyId}`);
    if (state === "invalid") return fail(0, `the signature of key ${key.keyId} does not verify`);
    if (state === "unknown") unknown.push(key.keyId);
  }
  if (unknown.length > 0)
    return notChecked(
      `${keys.length - unknown.length} of ${keys.length} keys signed; ${unknown.join(", ")} is of a kind that this runtime does not know`,
    );
  return pass(`signed by ${keys.map(({ keyId }) => keyId).join(", ")}, as the policy lists`);
}
