/** Models of the hub; and calls of models that are served. Each call is a line of the gateway's journal, and a record stands for a batch of them. */
import { Type } from "typebox";
import { Count, PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, fact, operation } from "./entry.ts";
import { closed } from "../../closed.ts";

/** Pairs of deployment and key that a record of calls names. */
export const MAX_CALLED = 16;

export const MODEL_EVENTS = {
  "model.add": operation(
    "project",
    "A folder of a project's bucket was added to the hub, for everybody here.",
    Type.Object({ model: PlainId, files: Count, bytes: Count }, closed),
  ),
  "model.ready": fact(
    "project",
    "The digests of a model of the hub are known; `commit` stands for all of them.",
    Type.Object({ model: PlainId, commit: PlainId, files: Count }, closed),
  ),
  "model.remove": operation(
    "project",
    "A model was taken out of the hub; its files stay where they lie.",
    Type.Object({ model: PlainId }, closed),
  ),
  "model.download": fact(
    "project",
    "A file of a model of the hub was asked for, in whole or in part.",
    Type.Object({ model: PlainId, sha256: Sha256Hex, bytes: Count }, closed),
  ),
  "model.calls": fact(
    "appliance",
    "Deployments were called, calls ended, or the gateway dialled out for one: the root (RFC 6962) over that batch of the gateway's journal, which has a line for each. No answer's first byte left before it.",
    Type.Object(
      {
        /** Names the batch in the journal. */
        batch: PlainId,
        root: Sha256Hex,
        lines: Count,
        calls: Count,
        ends: Count,
        /** Which deployment was called how often by whom, told by SHA-256 of the key that was shown; of the first {@link MAX_CALLED} pairs. */
        called: Type.Optional(
          Type.Array(
            Type.Object({ deployment: PlainId, key_sha256: Sha256Hex, calls: Count }, closed),
            { maxItems: MAX_CALLED },
          ),
        ),
        /** Calls of pairs beyond those: the journal has them all. */
        called_beyond: Type.Optional(Count),
      },
      closed,
    ),
  ),
} as const satisfies Record<string, CatalogueEntry>;
