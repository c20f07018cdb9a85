/** What a new shard says first, so that it stands without the one before: where it comes from, its producers, the operations still open. */
import type { EventType } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { AUDITD, type Ledger } from "./ledger.ts";
import type { LostShard } from "./restore-plan.ts";

/** An event of auditd's own, before it is given its place. */
export type OwnDraft<T extends EventType = EventType> = Pick<
  EventDraft<T>,
  "type" | "object" | "detail"
> &
  Partial<Pick<EventDraft<T>, "op" | "phase" | "outcome" | "actor" | "action">>;

export type Before = {
  origin: string;
  size: number;
  /** Hex. */
  root: string;
  ledger: Ledger;
};

export type Beginning =
  | { reason: "first"; before: null }
  | { reason: "year"; before: Before }
  | {
      reason: "restore";
      before: Before;
      seen: { size: number; root: string | null };
      /** Shards that followed it, and are gone. */
      lost: readonly LostShard[];
      approvers: [string, string];
    };

/** The first leaves of a shard, in order; auditd's own start follows them. */
export function firstLeaves(beginning: Beginning): OwnDraft[] {
  const { before } = beginning;
  const seen =
    beginning.reason === "restore"
      ? beginning.seen
      : { size: before?.size ?? 0, root: before?.root ?? null };
  const open: OwnDraft<"audit.shard.open"> = {
    type: "audit.shard.open",
    object: { kind: "log", id: AUDITD },
    detail: {
      reason: beginning.reason,
      prev_origin: before?.origin ?? null,
      prev_size: before?.size ?? 0,
      prev_root: before?.root ?? null,
      seen_size: seen.size,
      seen_root: seen.root,
      generation: before?.ledger.highestGeneration ?? 0,
      ...(beginning.reason === "restore" && beginning.lost.length > 0
        ? { lost: [...beginning.lost] }
        : {}),
      ...(beginning.reason === "restore"
        ? { claimed: { approvers: beginning.approvers, proof: "unproven" as const } }
        : {}),
    },
  };
  return before === null ? [open] : [open, ...producersOf(before.ledger), ...operationsOf(before)];
}

/** Each producer goes on where it stands: its next number is the first of this shard. */
function producersOf(ledger: Ledger): OwnDraft<"audit.producer.start">[] {
  return ledger
    .positions()
    .filter(({ prod }) => prod !== AUDITD)
    .map(({ prod, boot, pseq }) => ({
      type: "audit.producer.start",
      object: { kind: "producer", id: prod },
      detail: { boot, first_pseq: pseq + 1, prev_boot: boot, prev_pseq: pseq },
    }));
}

function operationsOf({ origin, ledger }: Before): OwnDraft<"audit.op.carried">[] {
  return [...ledger.open].map(([op, { type, prod, index, leafHash, t, tLog, origin: first }]) => ({
    type: "audit.op.carried",
    op,
    object: { kind: "log", id: AUDITD },
    detail: {
      origin: first ?? origin,
      index,
      leaf_sha256: leafHash,
      type,
      prod,
      requested_at: t,
      logged_at: tLog,
    },
  }));
}
