/** Platform keys, key pairs of buckets, certificates, tokens of the registry. */
import { Type } from "typebox";
import { KEY_SCOPES } from "../../key-scopes.ts";
import { Code, Count, PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, fact, NoDetail, operation } from "./entry.ts";
import { Fenced } from "./fields.ts";
import { closed } from "../../closed.ts";

/** `scopes`: a release before did not say. */
const Minted = Type.Object(
  {
    expires_in_s: Type.Optional(Count),
    project: Type.Optional(PlainId),
    scopes: Type.Optional(Type.Array(Type.Enum([...KEY_SCOPES]), { maxItems: KEY_SCOPES.length })),
  },
  closed,
);

export const KEY_EVENTS = {
  "key.mint": operation("key", "A platform key was made, for what `scopes` name.", Minted),
  "key.bootstrap": operation(
    "key",
    "The first platform key of a user was made by the operator, for what `scopes` name.",
    Minted,
  ),
  "key.renew": operation(
    "key",
    "The life of a platform key was extended; its secret stays the same.",
    Type.Object({ expires_in_s: Count }, closed),
  ),
  "key.revoke": operation("key", "A platform key was revoked.", NoDetail),
  "key.list": fact(
    "user",
    "A user's platform keys were listed.",
    Type.Object({ count: Type.Optional(Count) }, closed),
  ),
  "key.bucket.rotate": operation(
    "bucket",
    "A bucket's key pair was replaced; the old pair is void.",
    NoDetail,
  ),
  "key.bucket.withdraw": fact(
    "bucket",
    "The key pair of somebody who left the directory, of whom nobody knows since seven days, or whose duty leaves no data, was taken away.",
    Type.Object({ user: PlainId, reason: Type.Enum(["left", "unseen", "duty"]) }, closed),
  ),
  "key.predict.rotate": operation(
    "job",
    "The key to call a deployment was replaced; the old one is void.",
    NoDetail,
  ),
  "key.registry.token": fact(
    "node",
    "A token to pull an image was issued to a node.",
    Type.Object(Fenced, closed),
  ),
  "key.certificate.issue": fact(
    "node",
    "A certificate was signed for a key made on a node.",
    Type.Object({ ...Fenced, identity: Code, certificate_sha256: Sha256Hex }, closed),
  ),
} as const satisfies Record<string, CatalogueEntry>;
