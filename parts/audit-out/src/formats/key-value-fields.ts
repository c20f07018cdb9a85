/** The fields that CEF and LEEF carry, under names of their own. */
import { approvalOf } from "./approval-of.ts";
import type { ExportedEvent } from "./exported-event.ts";

export type KeyValueFields = {
  atMs: number;
  id: string;
  actor: string;
  actorKind: string;
  roles: string;
  onBehalfOf: string;
  /** Of the address that asked: a commitment. */
  source: string;
  /** The request by which it was done; who asked for it, and who agreed. */
  approval: string;
  requester: string;
  approvers: string;
  /** Refusals that one entry counts. */
  count: string;
  action: string;
  objectKind: string;
  object: string;
  phase: string;
  outcome: string;
  status: string;
  op: string;
  prod: string;
  index: string;
  leafHash: string;
  origin: string;
  treeSize: string;
};

/** What an event does not say is empty, and is left out. */
export function keyValueFields({
  event,
  index,
  leafHash,
  origin,
  treeSize,
}: ExportedEvent): KeyValueFields {
  const approval = approvalOf(event);
  const { count, window_s: windowS } = event.detail ?? {};
  return {
    ...{
      source: event.src?.addr ?? "",
      approval: approval?.id ?? "",
      requester: approval?.requester ?? "",
      approvers: (approval?.approvers ?? []).join(","),
      count: typeof count === "number" && typeof windowS === "number" ? String(count) : "",
    },
    ...{
      atMs: Date.parse(event.t_log),
      id: event.id,
      actor: event.actor.sub,
      actorKind: event.actor.kind,
    },
    ...{
      roles: (event.actor.roles ?? []).join(","),
      onBehalfOf: event.on_behalf_of ?? "",
      action: event.action ?? "",
    },
    ...{
      objectKind: event.object.kind,
      object: event.object.id,
      phase: event.phase,
      outcome: event.outcome?.code ?? "",
    },
    ...{ status: String(event.outcome?.status ?? ""), op: event.op, prod: event.prod },
    ...{ index: String(index), leafHash, origin, treeSize: String(treeSize) },
  };
}
