/** `/api/keys`, `/api/nodes`, `/healthz`, `/readyz`, `/token`. */
import { type Static, Type } from "typebox";
import { IdParam, Instant } from "./http-common.ts";
import { closed } from "../closed.ts";
import { KEY_SCOPES } from "../key-scopes.ts";
import { Nullable } from "../nullable.ts";

export { KEY_SCOPES, type KeyScope } from "../key-scopes.ts";

export const KeyScopeSchema = Type.Enum([...KEY_SCOPES]);

/** A platform key without the key. */
export const KeyReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    prefix: Type.String(),
    last4: Type.String(),
    projectId: Type.String(),
    scopes: Type.Array(KeyScopeSchema),
    createdAt: Instant,
    expiresAt: Instant,
    lastUsedAt: Nullable(Instant),
    revokedAt: Nullable(Instant),
    /** The key that this request came with. */
    current: Type.Boolean(),
  },
  closed,
);
export type KeyReply = Static<typeof KeyReply>;

/** The longest life of a key that is minted; the operator alone extends it. */
export const MAX_KEY_DAYS = 366;

export const MintKeyBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$",
    }),
    projectId: IdParam,
    scopes: Type.Array(KeyScopeSchema, { minItems: 1, uniqueItems: true }),
    expiresInDays: Type.Integer({ minimum: 1, maximum: MAX_KEY_DAYS }),
  },
  closed,
);

/** The only answer that ever holds the key. */
export const MintedKeyReply = Type.Object(
  {
    id: Type.String(),
    key: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    scopes: Type.Array(KeyScopeSchema),
    expiresAt: Instant,
  },
  closed,
);

export type MintedKeyReply = Static<typeof MintedKeyReply>;

/** Who a browser is signed in as. */
export const SessionReply = Type.Object(
  {
    user: Type.Object({ id: Type.String(), username: Type.String() }, closed),
    /** On the whole appliance. */
    roles: Type.Array(Type.String()),
    projects: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), role: Type.String() }, closed),
    ),
    /** How strongly the person signed in: `1` by password or directory, `2` with a second factor. */
    acr: Type.String(),
    /** Actions that the person may ask for at all; the answer to each request says for which rows. */
    may: Type.Array(Type.String()),
    signedInAt: Instant,
    /** Seconds until it ends without anything that the person does. */
    idleInS: Type.Integer({ minimum: 0 }),
    endsAt: Instant,
    /** To be sent as `X-Rt-Csrf` with every request that changes anything. */
    csrfToken: Type.String(),
  },
  closed,
);
export type SessionReply = Static<typeof SessionReply>;

/** Who asks, whatever the credential. */
export const CallerReply = Type.Object(
  {
    user: Type.Object({ id: Type.String(), username: Type.String() }, closed),
    credential: Type.Enum(["key", "session", "service-account"]),
    /** On the whole appliance; of a key none. */
    roles: Type.Array(Type.String()),
    projects: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), role: Type.String() }, closed),
    ),
    /** Of a person: `2` with a second factor. */
    acr: Nullable(Type.String()),
  },
  closed,
);
export type CallerReply = Static<typeof CallerReply>;

/** One session of a person at Keycloak, and here where a browser has it. */
export const PersonSession = Type.Object(
  {
    id: Type.String(),
    /** `other`: a client that came no further, as a browser that was signed out here alone. */
    kind: Type.Enum(["browser", "shell", "other"]),
    startedAt: Instant,
    lastSeenAt: Instant,
    /** The one of this very request. */
    current: Type.Boolean(),
  },
  closed,
);
export type PersonSession = Static<typeof PersonSession>;
export const SessionsReply = Type.Object(
  {
    sessions: Type.Array(PersonSession),
    /** False while Keycloak does not answer: shells are missing. */
    complete: Type.Boolean(),
  },
  closed,
);
export type SessionsReply = Static<typeof SessionsReply>;

/** More are refused. */
export const MAX_SSH_KEYS = 10;

/** All that the person has from now on: lines as a `.pub` file has them. */
export const SshKeysBody = Type.Object(
  { keys: Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), { maxItems: MAX_SSH_KEYS }) },
  closed,
);
export const SshKeysReply = Type.Object(
  {
    keys: Type.Array(
      Type.Object(
        {
          /** `SHA256:…`, as ssh-keygen shows it. */
          fingerprint: Type.String(),
          type: Type.String(),
          comment: Type.String(),
          /** The whole line. */
          key: Type.String(),
        },
        closed,
      ),
    ),
  },
  closed,
);

export type SshKeysReply = Static<typeof SshKeysReply>;

/** Where the browser goes to end Keycloak's session as well. */
export const SignOutReply = Type.Object({ location: Type.String() }, closed);

export const HealthReply = Type.Object({ status: Type.Literal("ok") }, closed);
export const ReadyReply = Type.Object(
  {
    ready: Type.Boolean(),
    parts: Type.Record(Type.String(), Type.Enum(["ok", "unavailable"])),
  },
  closed,
);
export type ReadyReply = Static<typeof ReadyReply>;

/** As the registry's clients ask: `service` and zero or more `scope` of the form `repository:<name>:<actions>`. */
export const RegistryTokenQuery = Type.Object(
  {
    service: Type.Optional(Type.String({ maxLength: 255 })),
    scope: Type.Optional(
      Type.Union([
        Type.String({ maxLength: 512 }),
        Type.Array(Type.String({ maxLength: 512 }), { maxItems: 8 }),
      ]),
    ),
    account: Type.Optional(Type.String({ maxLength: 255 })),
    client_id: Type.Optional(Type.String({ maxLength: 255 })),
    offline_token: Type.Optional(Type.String({ maxLength: 8 })),
  },
  closed,
);
/** As the OCI distribution specification has it. */
export const RegistryErrorReply = Type.Object(
  { errors: Type.Array(Type.Object({ code: Type.String(), message: Type.String() }, closed)) },
  closed,
);
export const RegistryTokenReply = Type.Object(
  {
    token: Type.String(),
    access_token: Type.String(),
    expires_in: Type.Integer(),
    issued_at: Instant,
  },
  closed,
);
