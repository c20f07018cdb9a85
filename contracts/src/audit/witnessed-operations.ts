/**
 * Operations whose request is shown to a witness before their effect: rights, keys, the trust policy, erasure and what leaves. A root that
 * rewrote its log afterwards could hide them from nobody who holds that witness's word.
 */
import type { OperationType } from "./audit-catalogue.ts";

export const AWAITS_WITNESS: ReadonlySet<OperationType> = new Set<OperationType>([
  "iam.user.create",
  "iam.node.join-token",
  "iam.node.join",
  "key.mint",
  "key.bootstrap",
  "key.revoke",
  "key.bucket.rotate",
  "key.predict.rotate",
  "audit.policy",
  "privacy.erasure",
]);
