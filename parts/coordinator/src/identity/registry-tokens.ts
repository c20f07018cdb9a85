import { createPrivateKey, type KeyObject, randomUUID, X509Certificate } from "node:crypto";
import { REGISTRY_TOKEN_ISSUER } from "@resontech/contracts/coordinator-config";
import { SignJWT } from "jose";
import type { PullGrant } from "./registry-passwords.ts";

/** A pull of a large image must end within it: the engine checks the token at each blob. */
const LIFE_S = 3600;

export type RegistryTokensOptions = {
  /** The engine's `auth.token.service`. */
  service: string;
  /** EC P-256, PEM. */
  keyPem: string;
  /** Its certificate, PEM; the engine holds its issuer as `rootcertbundle`. */
  certPem: string;
  now: () => number;
};

export class RegistryTokens {
  readonly #options: RegistryTokensOptions;
  readonly #key: KeyObject;
  readonly #chain: string[];

  constructor(options: RegistryTokensOptions) {
    this.#options = options;
    this.#key = createPrivateKey(options.keyPem);
    const certificates =
      options.certPem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    this.#chain = certificates.map((pem) => new X509Certificate(pem).raw.toString("base64"));
  }

  /** A token for pulling the grant's repository, and nothing else. */
  async issue({ repository, username }: PullGrant) {
    const issuedAt = Math.floor(this.#options.now() / 1000);
    const token = await new SignJWT({
      access: [{ type: "repository", name: repository, actions: ["pull"] }],
    })
      .setProtectedHeader({ alg: "ES256", typ: "JWT", x5c: this.#chain })
      .setIssuer(REGISTRY_TOKEN_ISSUER)
      .setSubject(username)
      .setAudience(this.#options.service)
      .setIssuedAt(issuedAt)
      // The engine's clock is the same host's; a minute covers a step.
      .setNotBefore(issuedAt - 60)
      .setExpirationTime(issuedAt + LIFE_S)
      .setJti(randomUUID())
      .sign(this.#key);
    return {
      token,
      access_token: token,
      expires_in: LIFE_S,
      issued_at: new Date(issuedAt * 1000).toISOString(),
    };
  }
}
