/** One sign-in or sign-out as the audit log takes it: who and from where are commitments. */
import { committer } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { SessionEvent } from "./decisions/sessions.ts";

export type HostSessionDraft = Omit<EventDraft<"auth.host.login" | "auth.host.logout">, "phase">;

/** @param nowMs since 1970; also the time of what the host states none for */
export function sessionRecord(
  { type, op, pid, user, host, address, atMs }: SessionEvent,
  nowMs: number,
): { draft: HostSessionDraft; disclosures: readonly Disclosure[] } {
  const commit = committer();
  const at = atMs ?? nowMs;
  // In order of their names, as an event has them. A host that is the address says nothing beyond it.
  const pii = [
    ...(host === null || host === address
      ? []
      : [{ field: "hostname" as const, commitment: commit("pii.hostname", host) }]),
    ...(user === null
      ? []
      : [{ field: "username" as const, commitment: commit("pii.username", user) }]),
  ];
  const draft: HostSessionDraft = {
    ...{
      type,
      op,
      actor: { sub: "supervisor", kind: "system" },
      object: { kind: "appliance", id: "appliance" },
    },
    ...(address === null ? {} : { src: { addr: commit("src.addr", address) } }),
    ...(pii.length === 0 ? {} : { pii }),
    detail: {
      source: "wtmp",
      at: new Date(at).toISOString(),
      lag_ms: Math.max(0, nowMs - at),
      pid,
    },
  };
  return { draft, disclosures: commit.disclosures };
}
