/**
 * Entries of one or more shards, in their order, as operations: a request and its outcome become one. Pure. Memory holds what is open, not what was read.
 */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { isRefused } from "@resontech/contracts/audit-refusals";
import { approvalOf } from "../../search/marks-of-event.ts";
import { resultOf } from "./entry-result.ts";
import type { EntryPlace, Operation } from "./operation.ts";

type Asked = { event: AuditEvent; place: EntryPlace; askedAt: string };
/** The actor of a request whose signature was not checked yet: the outcome names who it was. */
const UNPROVEN = "unproven";

export class OperationPairs {
  readonly #open = new Map<string, Asked>();

  /** @returns the operations that the entry ends, in most cases one; none for a request */
  note(event: AuditEvent, place: EntryPlace): Operation[] {
    const { op, type, phase, t_log } = event;
    const name = `${op} ${type}`;
    if (phase === "requested") {
      this.#open.set(name, { event, place, askedAt: t_log });
      return [];
    }
    if (phase === "fact" || phase === "observed") {
      const carried = type === "audit.op.carried" ? this.#carry(event, place) : [];
      return [...carried, operationOf({ event, place, askedAt: t_log }, null)];
    }
    const asked = this.#open.get(name);
    this.#open.delete(name);
    // An outcome without a request is a finding of the verifier's; it is shown all the same.
    return [
      asked === undefined
        ? operationOf({ event, place, askedAt: t_log }, null)
        : operationOf(asked, { event, place, askedAt: t_log }),
    ];
  }

  /** What has no outcome in what was read, oldest first. */
  get open(): Operation[] {
    return [...this.#open.values()].map((asked) => operationOf(asked, null));
  }

  /** A request of the shard before. Where that shard was not read, the entry that restates it stands for it. */
  #carry(event: AuditEvent, place: EntryPlace): Operation[] {
    const { type, logged_at: askedAt, prod } = event.detail ?? {};
    const name = `${event.op} ${String(type)}`;
    if (this.#open.has(name) || typeof type !== "string" || typeof askedAt !== "string") return [];
    const request = {
      ...event,
      ...{ type: type as AuditEvent["type"], phase: "requested" as const, detail: {} },
      ...(typeof prod === "string" ? { prod } : {}),
      // The log's own word about the request names no other: the outcome does.
      actor: { ...event.actor, sub: UNPROVEN },
    };
    this.#open.set(name, { event: request, place, askedAt });
    return [];
  }
}

function operationOf(asked: Asked, ended: Asked | null): Operation {
  const { event: request, place, askedAt } = asked;
  const last = ended?.event ?? request;
  const { result, code } = resultOf(last);
  const detail: Readonly<Record<string, unknown>> = { ...request.detail, ...last.detail };
  const { requester, approvers } = detail;
  const who = request.actor.sub === UNPROVEN ? last : request;
  return {
    ...{ entry: place, outcome: ended?.place ?? null, askedAt, endedAt: ended?.askedAt ?? null },
    durationMs: ended === null ? null : Date.parse(ended.askedAt) - Date.parse(askedAt),
    ...{ type: request.type, result: result === "asked" ? "open" : result, code },
    status: last.outcome?.status ?? request.outcome?.status ?? null,
    ...{ actor: who.actor, onBehalfOf: who.on_behalf_of ?? "", claimed: claimedText(detail) },
    asker: typeof requester === "string" ? requester : "",
    approvers: names(approvers),
    approval: approvalOf({ ...request, detail }) ?? "",
    object: ended !== null && request.actor.sub === UNPROVEN ? last.object : request.object,
    ...{ source: request.prod, address: request.src?.addr ?? last.src?.addr ?? "" },
    isUnwitnessed: last.outcome?.unwitnessed === true,
    ...{ isRefused: isRefused(last), detail },
  };
}

/** Whose key a request named without proof, or whom somebody named at the host as asking and agreeing. */
function claimedText({ claimed }: Readonly<Record<string, unknown>>): string {
  if (typeof claimed === "string") return claimed;
  if (typeof claimed !== "object" || claimed === null) return "";
  const { requester, approvers }: { requester?: unknown; approvers?: unknown } = claimed;
  return [
    ...(typeof requester === "string" ? [`asker ${requester}`] : []),
    ...names(approvers).map((name) => `approver ${name}`),
  ].join("; ");
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
