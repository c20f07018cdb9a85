/** What of a leaf can be searched for: plain fields alone. Commitments stay in the leaf; names never were in it. */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { isRefused } from "@resontech/contracts/audit-refusals";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import { approvalOf, type Mark, marksOf } from "./marks-of-event.ts";

export type EventRow = {
  /** auditd's clock, milliseconds since 1970. */
  atMs: number;
  type: string;
  prod: string;
  phase: string;
  /** UUID. */
  op: string;
  sub: string;
  onBehalfOf: string | null;
  kind: string;
  object: string;
  outcome: string | null;
  /** Somebody asked for something, and did not get it. */
  isRefused: boolean;
  /** Whoever acted holds the role of an administrator, or was root at the host. */
  isByAdministrator: boolean;
  approval: string | null;
  marks: Mark[];
};

const ADMINISTRATOR = "platform-admin";

export function rowOfLeaf(leaf: Buffer): EventRow {
  const event = parseLeaf(leaf);
  const { t_log, type, prod, phase, op, actor, on_behalf_of, object, outcome } = event;
  return {
    ...{
      atMs: Date.parse(t_log),
      type,
      prod,
      phase,
      op,
      sub: actor.sub,
      onBehalfOf: on_behalf_of ?? null,
    },
    ...{ kind: object.kind, object: object.id, outcome: outcome?.code ?? null },
    isRefused: isRefused(event),
    isByAdministrator: isByAdministrator(event),
    approval: approvalOf(event),
    marks: marksOf(event),
  };
}

/** Whether who acted holds the role of an administrator, or was root at the host. */
export function isByAdministrator({ actor: { kind, roles } }: Pick<AuditEvent, "actor">): boolean {
  return kind === "operator" || roles?.includes(ADMINISTRATOR) === true;
}
