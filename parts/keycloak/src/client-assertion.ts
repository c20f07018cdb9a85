import { randomUUID } from "node:crypto";
import { importPKCS8, SignJWT } from "jose";

const LIFE_S = 30;

/** A client shows who it is by a signature, so that no password exists: RFC 7523, `private_key_jwt`. @param issuer of the realm */
export async function signClientAssertion(
  clientId: string,
  keyPem: string,
  issuer: string,
): Promise<string> {
  return await new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: clientId })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(`${LIFE_S}s`)
    .sign(await importPKCS8(keyPem, "ES256"));
}
