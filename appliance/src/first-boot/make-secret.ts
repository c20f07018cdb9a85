import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createAccount, createUser } from "@nats-io/nkeys";
import type { SecretKind } from "@resontech/frame/define-part";

const KEY_BYTES = 32;

/** A new secret, as the file of a part has it. */
export function makeSecret(kind: SecretKind): string {
  switch (kind) {
    case "random":
      return randomBytes(KEY_BYTES).toString("base64url");
    case "p256":
      return signingKey();
    case "nkey-user":
      return new TextDecoder().decode(createUser().getSeed());
    case "nkey-account":
      return new TextDecoder().decode(createAccount().getSeed());
    case "s3-key-pair":
      return JSON.stringify({
        accessKeyId: `RT${randomBytes(9).toString("hex").toUpperCase()}`,
        secretAccessKey: randomBytes(KEY_BYTES).toString("base64url"),
      });
  }
}

/** PKCS #8, P-256. */
function signingKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" });
}
