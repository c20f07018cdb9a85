/** The public key of a service account, as its caller sent it. Pure. */
import { createHash, createPublicKey } from "node:crypto";
import type { PublicKey } from "@resontech/contracts/http-service-accounts";
import { ApiError } from "../../../api-error.ts";

/** @property jwk what Keycloak is given @property thumbprint RFC 7638, SHA-256, base64url */
export type AccountKey = { jwk: Record<string, string>; thumbprint: string };

/** @param kid names it in assertions @throws ApiError service_account_key_invalid for what is no point of the curve */
export function accountKey({ x, y }: PublicKey, kid: string): AccountKey {
  const jwk = { crv: "P-256", kty: "EC", x, y };
  try {
    createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new ApiError("service_account_key_invalid", "the key is no point of the curve P-256");
  }
  return {
    jwk: { ...jwk, kid, alg: "ES256", use: "sig" },
    // The members in this order, without white space.
    thumbprint: createHash("sha256").update(JSON.stringify(jwk)).digest("base64url"),
  };
}
