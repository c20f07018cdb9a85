/** How a host becomes a node: over HTTPS, before it has a certificate; and what its agent then tells whoever installs it. */
import { type Static, Type } from "typebox";
import { closed, Id } from "./agent-fields.ts";
import { Inventory } from "./inventory.ts";

/** `POST /api/nodes/join`; the token is used up by the first request whose CSR is signed. */
export const JoinRequest = Type.Object(
  { token: Type.String({ maxLength: 256 }), csr: Type.String({ maxLength: 16_384 }) },
  closed,
);
export type JoinRequest = Static<typeof JoinRequest>;
/** A job image by digest, and a password that is good for an hour to pull it. */
export const TrialPull = Type.Object(
  {
    image: Type.String({ maxLength: 512 }),
    username: Type.String({ maxLength: 256 }),
    password: Type.String({ maxLength: 256 }),
  },
  closed,
);
export type TrialPull = Static<typeof TrialPull>;
export const JoinReply = Type.Object(
  {
    node: Id,
    /** Node certificate followed by the intermediate, PEM. */
    certChain: Type.String(),
    rootCert: Type.String(),
    natsUrl: Type.String(),
    registry: Type.String(),
    /** For one container that shows that the node can run jobs: absent where there is no image for every node. */
    trial: Type.Optional(TrialPull),
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
    trial: Type.Union([TrialPull, Type.Null()]),
  },
  closed,
);
export type JoinAnswer = Static<typeof JoinAnswer>;

/** `registered.json` in the agent's folder: what it told of itself when it registered last. */
export const NodeRegistered = Type.Object({ workers: Inventory.properties.workers }, closed);
export type NodeRegistered = Static<typeof NodeRegistered>;
