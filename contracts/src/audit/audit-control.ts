/** What the operator asks auditd on its control socket: `POST /<verb>`, one JSON line answered. What two people must agree on is a leaf. */
import { type Static, Type } from "typebox";
import { ApprovalProof } from "./approval-proof.ts";
import { PlainId } from "./audit-event.ts";
import { closed } from "../closed.ts";

/** UTF-16 units of a trust policy. */
export const MAX_POLICY_LENGTH = 262_144;

export const AuditControlRequest = Type.Union([
  Type.Object({ verb: Type.Literal("status") }, closed),
  /** The log is older than what was seen of it: it goes on in a new shard. Nobody can sign in meanwhile, so both people are named, and nothing proves it. */
  Type.Object(
    { verb: Type.Literal("open-shard"), approvers: Type.Tuple([PlainId, PlainId]) },
    closed,
  ),
  /** Other witnesses, another quorum; the log's own lines stay. auditd checks that two people signed for this very policy. */
  Type.Object(
    {
      verb: Type.Literal("set-policy"),
      policy: Type.String({ maxLength: MAX_POLICY_LENGTH }),
      approval: ApprovalProof,
    },
    closed,
  ),
  /** An officer vouches for the clock: for the turn of the year, and until it is set or auditd ends for what the vault's retention ends. */
  Type.Object({ verb: Type.Literal("clock-is-right") }, closed),
]);
export type AuditControlRequest = Static<typeof AuditControlRequest>;

/** How the log stands. */
export type LogStatus = {
  origin: string;
  /** Durable leaves. */
  size: number;
  checkpointSize: number;
  /** Batches committed since auditd started: each is one `fdatasync` of the write-ahead log. */
  batches: number;
  draining: boolean;
  highestGeneration: number;
  /** The log's folder is older than what somebody has seen of it, of this shard or a later one: nothing is taken until two people open a new shard. */
  rolledBack: { origin: string; seenSize: number; by: string } | null;
  /** Longest that a turn of its event loop was late within the last minutes, milliseconds. */
  loopLagMs: number;
  /** `trusted`: what can't be undone may be done because of its time. `heartbeatAt`: of the newest heartbeat of this life. */
  clock: { trusted: boolean; heartbeatAt: string | null };
};
