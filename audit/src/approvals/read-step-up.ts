/** An ID token by one of the keys that are pinned. RFC 7515, RFC 8725: the key says which algorithm, never the token. */
import { createPublicKey } from "node:crypto";
import type { StepUpKey } from "@resontech/contracts/step-up-keys";
import { compactVerify, decodeProtectedHeader, errors } from "jose";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Objection, SignedClaims } from "./decisions/proof-objection.ts";

const Text = Type.String({ minLength: 1, maxLength: 512 });
const Seconds = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** More may stand in it, as names. */
const Claims = Type.Object({
  iss: Text,
  aud: Type.Union([Text, Type.Array(Text, { maxItems: 8 })]),
  azp: Text,
  typ: Text,
  sub: Text,
  acr: Text,
  auth_time: Seconds,
  iat: Seconds,
  nonce: Text,
  roles: Type.Array(Text, { maxItems: 64 }),
});
const claims = Compile(Claims);

/** A token that shows nothing, or its claims. */
export async function readStepUp(
  token: string,
  keys: readonly StepUpKey[],
): Promise<SignedClaims | Objection> {
  try {
    const { kid } = decodeProtectedHeader(token);
    const key = keys.find((one) => one.kid === kid);
    if (key === undefined)
      return unsigned(
        "a token names no key of the realm that is pinned here; where the realm has new ones, give: appliance identity apply",
      );
    const { x, y } = key;
    const { payload, protectedHeader } = await compactVerify(
      token,
      createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" }),
      { algorithms: ["ES256"] },
    );
    const found: unknown = JSON.parse(Buffer.from(payload).toString("utf8"));
    if (protectedHeader.typ !== "JWT" || !claims.Check(found))
      return unsigned("a token is no ID token of a step-up");
    return { claims: found satisfies Static<typeof Claims>, key };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError || isKeyFault(error))
      return unsigned("a token is not signed by a key of the realm");
    throw error;
  }
}

/** `decodeProtectedHeader` has no class of its own for a header that is none. */
function isKeyFault(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && "code" in error);
}

function unsigned(message: string): Objection {
  return { code: "step_up_signature", message };
}
