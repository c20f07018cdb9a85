/** What the operator asks the vault on its control socket: `POST /<verb>`, one JSON line answered; a disclosure answers with a line for each value. */
import { type Static, Type } from "typebox";
import { ApprovalProof } from "./approval-proof.ts";
import { Code, Instant, Origin, PlainId } from "./audit-event.ts";
import { closed } from "../closed.ts";

const Two = Type.Tuple([PlainId, PlainId]);
/** Of one disclosure, in any order. */
export const DisclosedSubjects = Type.Array(PlainId, {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
});

export const EraseRequest = Type.Object(
  {
    verb: Type.Literal("erase"),
    /** The person's pseudonym in the log. */
    subject: PlainId,
    /** Name of the request in the operator's own files. */
    request: PlainId,
    legalBasis: Code,
    /** The vault checks that two people signed for this very erasure. */
    approval: ApprovalProof,
  },
  closed,
);
export type EraseRequest = Static<typeof EraseRequest>;

export const HoldRequest = Type.Object(
  {
    verb: Type.Literal("hold"),
    subject: PlainId,
    /** The hold's name in the operator's own files. */
    hold: PlainId,
    /** A security officer signed for this very hold. */
    approval: ApprovalProof,
  },
  closed,
);
export type HoldRequest = Static<typeof HoldRequest>;

/** Where nobody can sign: a hold only keeps. Who asks is named, and nothing proves it. */
export const UnprovenHoldRequest = Type.Object(
  { verb: Type.Literal("hold-unproven"), subject: PlainId, hold: PlainId, requester: PlainId },
  closed,
);
export type UnprovenHoldRequest = Static<typeof UnprovenHoldRequest>;

export const LiftRequest = Type.Object(
  {
    verb: Type.Literal("lift"),
    subject: PlainId,
    hold: PlainId,
    /** Two people signed for this very lift. */
    approval: ApprovalProof,
  },
  closed,
);
export type LiftRequest = Static<typeof LiftRequest>;

/** After the vault's database was put back: the holds that it has are those of the log. People are named, and nothing proves it. */
export const ConfirmHoldsRequest = Type.Object(
  { verb: Type.Literal("confirm-holds"), requester: PlainId, approvers: Two },
  closed,
);
export type ConfirmHoldsRequest = Static<typeof ConfirmHoldsRequest>;

export const RefuseRequest = Type.Object(
  {
    verb: Type.Literal("refuse"),
    subject: PlainId,
    request: PlainId,
    legalBasis: Code,
    until: Instant,
    requester: PlainId,
  },
  closed,
);
export type RefuseRequest = Static<typeof RefuseRequest>;

export const DiscloseRequest = Type.Object(
  {
    verb: Type.Literal("disclose"),
    /** The shard that is exported. */
    origin: Origin,
    subjects: DisclosedSubjects,
    receiver: PlainId,
    /** Two people signed for these subjects of this shard, and this receiver. */
    approval: ApprovalProof,
  },
  closed,
);
export type DiscloseRequest = Static<typeof DiscloseRequest>;

export const VaultControlRequest = Type.Union([
  Type.Object({ verb: Type.Literal("status") }, closed),
  /** As `status`, without what must be counted. */
  Type.Object({ verb: Type.Literal("health") }, closed),
  EraseRequest,
  HoldRequest,
  UnprovenHoldRequest,
  LiftRequest,
  ConfirmHoldsRequest,
  RefuseRequest,
  DiscloseRequest,
]);
export type VaultControlRequest = Static<typeof VaultControlRequest>;

export type VaultHealth = {
  connected: boolean;
  /** Why the last turn of its own work failed; null when it did not. `spool_blocked`: what waits can't be taken over, and nothing is erased meanwhile. */
  fault: { code: string; message: string } | null;
  /** Its database was put back, or lost, and legal holds with it: nothing is destroyed until two people have confirmed those that it has. */
  holdsInDoubt: boolean;
  /** Something is past its retention by a clock that nobody vouches for, and is kept. */
  awaitsClock: boolean;
};

export type VaultStatus = VaultHealth & {
  sealed: number;
  erased: number;
  keys: number;
  holds: number;
  /** Living epoch keys, and the latest day on which one of them ends. */
  epochs: number;
  lastEpochEndsAt: string | null;
  /** Acts on record that are not at their end. */
  underWay: number;
};

/** `erased` is given by shard. `confirmed`: its own files were searched for what was destroyed, and nothing was found. */
export type EraseReply = {
  op: string;
  erased: { origin: string; count: number }[];
  finalAfter: string;
  handedOut: number;
  confirmed: boolean;
};

/** One commitment of a shard, in order of index and field: opened, or erased by the entry that is named. */
export type DisclosureLine = { commitment: string; field: string; index: number } & (
  | { salt: string; value: string }
  | { erased: { index: number; origin: string } }
);
/** The last line of a disclosure. */
export type DisclosureEnd = { end: { opened: number; erased: number } };
