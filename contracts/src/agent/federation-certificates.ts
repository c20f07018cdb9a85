/**
 * The certificates of one attempt's federation, as NVFlare 2.9.0 needs them: one root, and leaves for the server, each client and
 * the submitter ("admin" in SignRequest). A description only: the coordinator signs, the node makes keys and requests.
 *
 * Proven with a whole job (server, two clients, submitter; mutual TLS, signed job folder) on exactly this profile.
 *
 * What NVFlare reads, by its own source (nvflare 2.9.0):
 * - `private/fed/authenticator.py`, `private/fed/server/client_manager.py`: client and server name each other by CN and sign it with
 *   their key (RSA-PSS); the server's CN must equal `identity` in fed_client.json; a leaf that carries key usage must allow
 *   digitalSignature, extended usage must allow serverAuth (server) or clientAuth (client).
 * - `fuel/f3/drivers/grpc/utils.py`: gRPC with mutual TLS. The host that clients dial must be a subjectAltName of the server.
 * - `fuel/sec/admin_cert.py`, `fuel/hci/server/login.py`: the submitter's CN is the user name, O the organisation and
 *   unstructuredName the role that `local/authorization.json` judges; no CA leaf; clientAuth.
 * - `lighter/utils.py` `verify_cert_chain`: webpki rules for the root (critical basicConstraints and keyUsage, key identifiers).
 * - `fuel/f3/cellnet/cell_cipher.py`, `lighter/utils.py` `sign_content`: OAEP and PSS with the leaf's key, so **leaves are RSA**. The
 *   root is free; P-256 signs a leaf in under a millisecond.
 * - No `signature.json` is needed in the kits (only HE and confidential-computing kits have one), so the root signs certificates alone.
 */

import type { CertificateProfile } from "./certificate-profile.ts";

/** Leaf keys: RSA 2048, made on the node, PEM PKCS#8 unencrypted, mode 0400. */
export const LEAF_KEY = { algorithm: "RSA", modulusLength: 2048, publicExponent: 65_537 } as const;
/** Key of the attempt's root, held by the coordinator, used for this attempt alone. */
export const ROOT_KEY = { algorithm: "ECDSA", namedCurve: "P-256" } as const;
export const SIGNATURE_HASH = "SHA-256" as const;

/** Certificates start this long before they are signed: a clock that is hours behind, as one set to local time is, must still accept them. */
export const BACKDATED_MS = 24 * 3_600_000;
/** NVFlare never renews; a root outlives its leaves. The attempt's end makes them worthless long before. */
export const LEAF_VALID_MS = 365 * 24 * 3_600_000;
export const ROOT_VALID_MS = LEAF_VALID_MS + 24 * 3_600_000;

/** RFC 2985; the role of the submitter. Encoded as UTF8String. */
export const OID_UNSTRUCTURED_NAME = "1.2.840.113549.1.9.2";
/** The submitter's CN: the user name that signs the job folder and logs in to the attempt's server. */
export const SUBMITTER_NAME = "submitter";
/** May do everything within its attempt's server: there is nobody else, and the federation ends with the attempt. */
export const SUBMITTER_ROLE = "project_admin";

export type FederationIdentity =
  | { kind: "root"; attempt: string }
  | { kind: "server"; org: string; serverName: string }
  | { kind: "client"; org: string; site: string }
  | { kind: "submitter"; org: string };

/**
 * Subject and extensions of one certificate. The request's own subject is ignored; only its public key and its proof of possession
 * are used, and the key must be {@link LEAF_KEY}. Names come from the attempt's row: `serverName` is a lower-case DNS label which the
 * job network resolves (the server's container, or the gateway on a client's node); `site` as in RunnerSpec.
 */
export function certificateProfile(identity: FederationIdentity): CertificateProfile {
  switch (identity.kind) {
    case "root":
      return {
        subject: { commonName: identity.attempt },
        dnsNames: [],
        basicConstraints: { ca: true, pathLength: 0 },
        keyUsage: ["keyCertSign", "cRLSign"],
        extendedKeyUsage: [],
      };
    case "server":
      // `localhost` too: the submitter's session runs in the server's own container and needs no name service.
      return leaf(
        { commonName: identity.serverName, organization: identity.org },
        [identity.serverName, "localhost"],
        ["serverAuth"],
      );
    case "client":
      return leaf(
        { commonName: identity.site, organization: identity.org },
        [identity.site],
        ["clientAuth"],
      );
    case "submitter":
      return leaf(
        {
          commonName: SUBMITTER_NAME,
          organization: identity.org,
          unstructuredName: SUBMITTER_ROLE,
        },
        [SUBMITTER_NAME],
        ["clientAuth"],
      );
  }
}

function leaf(
  subject: CertificateProfile["subject"],
  dnsNames: string[],
  extendedKeyUsage: CertificateProfile["extendedKeyUsage"],
): CertificateProfile {
  return {
    subject,
    dnsNames,
    basicConstraints: { ca: false },
    keyUsage: ["digitalSignature", "keyEncipherment"],
    extendedKeyUsage,
  };
}
