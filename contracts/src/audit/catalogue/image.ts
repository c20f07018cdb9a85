/** Images of the customer's own, and the keys that admit them. */
import { Type } from "typebox";
import { IMAGE_ADMISSIONS } from "../../image/own-image.ts";
import { PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, operation } from "./entry.ts";
import { closed } from "../../closed.ts";

export const IMAGE_EVENTS = {
  "admin.image.add": operation(
    "appliance",
    "An image of the customer's own was admitted: `by` says whether its digest was said, a trusted key had signed it, or two people agreed.",
    Type.Object(
      {
        name: PlainId,
        /** Of its manifest. */
        image_sha256: Sha256Hex,
        by: Type.Enum([...IMAGE_ADMISSIONS]),
        key_sha256: Type.Optional(Sha256Hex),
        approval: Type.Optional(PlainId),
      },
      closed,
    ),
  ),
  "admin.image.remove": operation(
    "appliance",
    "An image of the customer's own was removed; no deployment ran it.",
    Type.Object({ name: PlainId, image_sha256: Sha256Hex }, closed),
  ),
  "admin.image.trust": operation(
    "appliance",
    "A key was trusted to admit images by its signature, or is trusted no longer.",
    Type.Object({ change: Type.Enum(["trusted", "distrusted"]), key_sha256: Sha256Hex }, closed),
  ),
} as const satisfies Record<string, CatalogueEntry>;
