/**
 * `<root>/etc/step-up-keys.json` (0444, root): whom auditd and the vault believe that a person signed in. Written by appliance/ from what Keycloak has;
 * no service may write it.
 */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

const Coordinate = Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" });
const Seconds = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** A P-256 key that signs with ES256, and no other. */
export const StepUpKey = Type.Object(
  {
    kid: Type.String({ minLength: 1, maxLength: 255 }),
    x: Coordinate,
    y: Coordinate,
    /** Unix seconds: Keycloak has it no longer since then, and a token made later is refused. Null: Keycloak has it. */
    notAfter: Type.Union([Seconds, Type.Null()]),
  },
  closed,
);
export type StepUpKey = Static<typeof StepUpKey>;

export const StepUpKeys = Type.Object(
  {
    issuer: Type.String({ pattern: "^https://", maxLength: 512 }),
    /** The client that people sign in by: the tokens' audience. */
    audience: Type.String({ minLength: 1, maxLength: 255 }),
    keys: Type.Array(StepUpKey, { maxItems: 32 }),
    /** Role of the whole appliance → subjects who hold it and can sign in. Says whether somebody else could have agreed. */
    holders: Type.Record(
      Type.String({ pattern: "^[a-z-]{1,64}$" }),
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 10_000 }),
    ),
  },
  closed,
);
export type StepUpKeys = Static<typeof StepUpKeys>;
