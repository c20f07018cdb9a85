import { createHash } from "node:crypto";
import type { StepUpStatement } from "@resontech/contracts/approval-proof";
import { canonicalJson } from "../event/canonical-json.ts";

const LABEL = "resontech-step-up-v1\0";
const MAX_DEPTH = 6;

/**
 * The nonce of a sign-in by which a person signs a statement: SHA-256 over a label and the statement's RFC 8785 form, as base64url.
 * @throws CanonicalError for what has no such form
 */
export function stepUpNonce(statement: StepUpStatement): string {
  return createHash("sha256")
    .update(LABEL)
    .update(canonicalJson(statement, MAX_DEPTH))
    .digest("base64url");
}
