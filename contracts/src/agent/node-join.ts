/** How a host becomes a node: over HTTPS, before it has a certificate; and what its agent then tells whoever installs it. */
import { type Static, Type } from "typebox";
import { Id } from "./agent-fields.ts";
import { Inventory } from "./inventory.ts";
import { WorkerTrial } from "./worker-trial.ts";
import { closed } from "../closed.ts";

/**
 * `POST /api/nodes/join`. A token that an operator made is used up by the first request whose CSR is signed; one that a node made itself
 * (node-renewal.ts) is good for its own CSR alone.
 */
export const JoinRequest = Type.Object(
  { token: Type.String({ maxLength: 4_096 }), csr: Type.String({ maxLength: 16_384 }) },
  closed,
);
export type JoinRequest = Static<typeof JoinRequest>;
export const JoinReply = Type.Object(
  {
    node: Id,
    /** Node certificate followed by the intermediate, PEM. */
    certChain: Type.String(),
    rootCert: Type.String(),
    natsUrl: Type.String(),
    registry: Type.String(),
  },
  closed,
);
export type JoinReply = Static<typeof JoinReply>;

/** The one line that `agent --join` prints. */
export const JoinAnswer = Type.Object(
  {
    refused: Type.Union([
      Type.Object({ code: Type.String(), message: Type.String() }, closed),
      Type.Null(),
    ]),
  },
  closed,
);
export type JoinAnswer = Static<typeof JoinAnswer>;

/** `registered.json` in the agent's folder: what it told of itself when it registered last, and how the trials of its workers stand. */
export const NodeRegistered = Type.Object(
  {
    workers: Inventory.properties.workers,
    trials: Type.Optional(Type.Array(WorkerTrial, { maxItems: 1024 })),
  },
  closed,
);
export type NodeRegistered = Static<typeof NodeRegistered>;
