/** Platform keys, key pairs of buckets, certificates, tokens of the registry. */
import { Type } from "typebox";
import { Code, Count, PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, closed, fact, NoDetail, operation } from "./entry.ts";
import { Fenced } from "./fields.ts";

const MintedKey = {
  expires_in_s: Type.Optional(Count),
  project: Type.Optional(PlainId),
  /** What it may be used for. */
  scopes: Type.Optional(Type.Array(PlainId, { maxItems: 32 })),
};

export const KEY_EVENTS = {
  "key.mint": operation("key", "A platform key was made.", Type.Object(MintedKey, closed)),
  "key.bootstrap": operation(
    "key",
    "The first platform key of a user was made by the operator.",
    Type.Object(MintedKey, closed),
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
    "The key pair of somebody who left the directory, or of whom nobody knows since seven days, was taken away.",
    Type.Object({ user: PlainId, reason: Type.Enum(["left", "unseen"]) }, closed),
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
