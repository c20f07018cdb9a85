/** What of a leaf can be searched for: plain fields alone. Commitments stay in the leaf; names never were in it. */
import { parseLeaf } from "../../log/format/event/leaf.ts";

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
};

export function rowOfLeaf(leaf: Buffer): EventRow {
  const { t_log, type, prod, phase, op, actor, on_behalf_of, object, outcome } = parseLeaf(leaf);
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
  };
}
