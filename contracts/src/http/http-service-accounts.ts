/** `/api/projects/:id/service-accounts`: programs of one project that sign in by a key of their own. */
import { type Static, Type } from "typebox";
import { Instant } from "./http-common.ts";
import type { KeyScope } from "./http-identity.ts";
import { MAX_TITLE, TITLE_PATTERN } from "./http-projects.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

/** What a service account may be allowed to do: never keys, nodes or the audit log. */
export const SERVICE_ACCOUNT_SCOPES = [
  "storage",
  "jobs:read",
  "jobs:write",
] as const satisfies readonly KeyScope[];
export type ServiceAccountScope = (typeof SERVICE_ACCOUNT_SCOPES)[number];

/** Its client at the identity provider has this before the account's id; `azp` of its tokens is the two. */
export const SERVICE_ACCOUNT_CLIENT_PREFIX = "service-account-";
export const SERVICE_ACCOUNT_DAYS = 90;
/** Living ones; more are refused. */
export const MAX_SERVICE_ACCOUNTS = 10;

const Coordinate = Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" });
const Scopes = Type.Array(Type.Enum([...SERVICE_ACCOUNT_SCOPES]), {
  minItems: 1,
  uniqueItems: true,
});

/** P-256, as RFC 7517 has it. A private key is refused: it is nobody's but the caller's. */
export const PublicKey = Type.Object(
  {
    kty: Type.Literal("EC"),
    crv: Type.Literal("P-256"),
    ...{ x: Coordinate, y: Coordinate },
    kid: Type.Optional(Type.String({ maxLength: 255 })),
    alg: Type.Optional(Type.Literal("ES256")),
    use: Type.Optional(Type.Literal("sig")),
  },
  closed,
);
export type PublicKey = Static<typeof PublicKey>;

export const CreateServiceAccountBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: MAX_TITLE, pattern: TITLE_PATTERN }),
    scopes: Scopes,
    publicKey: PublicKey,
  },
  closed,
);

export const ServiceAccountReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    /** What its assertions are issued by: RFC 7523. */
    clientId: Type.String(),
    scopes: Scopes,
    /** SHA-256 of the public key, RFC 7638, base64url. */
    thumbprint: Type.String(),
    createdBy: Type.Object({ id: Type.String(), username: Type.String() }, closed),
    /** Who made it, or the lead who adopted it. */
    answeredBy: Type.Object({ id: Type.String(), username: Type.String() }, closed),
    /** When it ends unless a lead adopts it; null while somebody answers for it. */
    adoptBy: Nullable(Instant),
    createdAt: Instant,
    expiresAt: Instant,
    lastUsedAt: Nullable(Instant),
    revokedAt: Nullable(Instant),
  },
  closed,
);
export type ServiceAccountReply = Static<typeof ServiceAccountReply>;
