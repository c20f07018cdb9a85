/** Images of one's own, and the keys that admit some. The registry has an image's bytes before it is named here. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam, Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { IMAGE_ADMISSIONS, ImageDigest, ImageName, ImageProgram } from "../image/own-image.ts";
import { operatorRoute } from "./operator-route.ts";

/** @property proof the key or the request that vouches for it; null where its digest was said @property deployments that run it */
export const ImageFacts = Type.Object(
  {
    name: Type.String(),
    digest: Type.String(),
    sizeBytes: Type.Integer({ minimum: 0 }),
    admittedBy: Type.Enum([...IMAGE_ADMISSIONS]),
    proof: Nullable(Type.String()),
    admittedAt: Instant,
    deployments: Type.Array(Type.String()),
  },
  closed,
);
export type ImageFacts = Static<typeof ImageFacts>;

export const AskedAdmission = Type.Union([
  /** As somebody was told it by another way than the image came. */
  Type.Object({ by: Type.Literal("digest"), said: ImageDigest }, closed),
  Type.Object(
    {
      by: Type.Literal("signature"),
      /** Base64, of the image's statement. */
      signature: Type.String({ maxLength: 1_024, pattern: "^[A-Za-z0-9+/]+={0,2}$" }),
    },
    closed,
  ),
  /** The request of two people. */
  Type.Object({ by: Type.Literal("approval"), approval: IdParam }, closed),
]);
export type AskedAdmission = Static<typeof AskedAdmission>;

/** @property sha256 of the public key, hex */
const ImageKeyFacts = Type.Object({ sha256: Type.String(), trustedAt: Instant }, closed);
const OneKey = Type.Object({ sha256: Type.String() }, closed);

export const IMAGE_ROUTES = {
  "image-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/images" },
    answer: Type.Object({ images: Type.Array(ImageFacts) }, closed),
  }),
  /** The registry has it: deployments may name it from then on. */
  "image-add": operatorRoute({
    ...{ method: "POST", path: "/api/operator/images" },
    body: Type.Object(
      {
        name: ImageName,
        digest: ImageDigest,
        sizeBytes: Type.Integer({ minimum: 0 }),
        program: ImageProgram,
        admission: AskedAdmission,
      },
      closed,
    ),
    answer: Type.Object({ image: ImageFacts }, closed),
  }),
  /** Refused while a deployment runs it. */
  "image-remove": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/images/:name" },
    params: Type.Object({ name: ImageName }, closed),
    answer: Type.Object({ name: Type.String(), digest: Type.String() }, closed),
  }),
  "image-keys": operatorRoute({
    ...{ method: "GET", path: "/api/operator/image-keys" },
    answer: Type.Object({ keys: Type.Array(ImageKeyFacts) }, closed),
  }),
  "image-trust": operatorRoute({
    ...{ method: "POST", path: "/api/operator/image-keys" },
    body: Type.Object({ pem: Type.String({ maxLength: 4_096 }) }, closed),
    answer: OneKey,
  }),
  /** By the beginning of its SHA-256. */
  "image-distrust": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/image-keys/:key" },
    params: Type.Object({ key: Type.String({ pattern: "^[0-9a-f]{8,64}$" }) }, closed),
    answer: OneKey,
  }),
} as const;
