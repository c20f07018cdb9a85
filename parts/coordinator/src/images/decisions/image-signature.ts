/** Signatures of images, by keys that were trusted before: Ed25519, or ECDSA on P-256 as `cosign` and `openssl` make it. Pure. */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { imageStatement } from "@resontech/contracts/own-image";
import { ApiError } from "../../api-error.ts";

export type PublicKey = { sha256: string; pem: string };

/** @param pem SPKI @returns the key as it is kept @throws ApiError image_key_invalid */
export function readImageKey(pem: string): PublicKey {
  const key = parsed(pem);
  if (key === null || !isTaken(key))
    throw new ApiError("image_key_invalid", "it is no public key of Ed25519 or P-256 in PEM");
  const spki = key.export({ type: "spki", format: "der" });
  return {
    sha256: createHash("sha256").update(spki).digest("hex"),
    pem: key.export({ type: "spki", format: "pem" }),
  };
}

/**
 * The key that signed {@link imageStatement} of the digest.
 * @param signature base64
 * @throws ApiError image_signature_invalid
 */
export function signerOf(digest: string, signature: string, keys: readonly PublicKey[]): PublicKey {
  const [statement, bytes] = [
    Buffer.from(imageStatement(digest)),
    Buffer.from(signature, "base64"),
  ];
  const signer = keys.find((key) => {
    const opened = parsed(key.pem);
    return opened !== null && isTaken(opened) && isSignedBy(opened, statement, bytes);
  });
  if (signer === undefined)
    throw new ApiError(
      "image_signature_invalid",
      keys.length === 0
        ? "no key is trusted here, so no signature admits an image"
        : `none of the ${keys.length} trusted keys signed ${digest}`,
    );
  return signer;
}

function isSignedBy(key: KeyObject, statement: Buffer, signature: Buffer): boolean {
  const digest = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  return verify(digest, statement, key, signature);
}

function isTaken(key: KeyObject): boolean {
  if (key.asymmetricKeyType === "ed25519") return true;
  return key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
}

function parsed(pem: string): KeyObject | null {
  // A private key has a public half: whoever hands one over by mistake is not to have it taken.
  if (!pem.trim().startsWith("-----BEGIN PUBLIC KEY-----")) return null;
  try {
    return createPublicKey(pem);
  } catch {
    return null;
  }
}
