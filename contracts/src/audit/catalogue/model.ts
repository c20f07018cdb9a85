/** Calls of models that are served. Each is a line of the gateway's journal; a record stands for a batch of them. */
import { Type } from "typebox";
import { Count, PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, closed, fact } from "./entry.ts";

export const MODEL_EVENTS = {
  "model.calls": fact(
    "appliance",
    "Deployments were called, or calls ended: the root (RFC 6962) over that batch of the gateway's journal, which has a line for each. No answer's first byte left before it.",
    Type.Object(
      {
        /** Names the batch in the journal. */
        batch: PlainId,
        root: Sha256Hex,
        lines: Count,
        calls: Count,
        ends: Count,
      },
      closed,
    ),
  ),
} as const satisfies Record<string, CatalogueEntry>;
