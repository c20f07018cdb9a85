/**
 * The log goes with the appliance, so its end can be known elsewhere alone: who receives the log's entries is told of the request before anything is
 * removed. An appliance whose log takes nothing is removed all the same: it may be what is broken.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { AuditProducer } from "@resontech/audit/producer";

/** Receivers are sent what is new four times a second. */
const HAND_OUT_MS = 1_000;

/**
 * @param open the line to auditd; null where none is to be had
 * @param remove asks, and removes; resolves with its exit code
 * @returns that exit code. Of one that removed everything the request stays without an outcome
 */
export async function recordedUninstall(
  open: () => Promise<AuditProducer | null>,
  remove: () => Promise<number>,
  say: (line: string) => void,
): Promise<number> {
  const producer = await open();
  const operation = {
    ...({
      type: "admin.uninstall",
      op: randomUUID(),
      actor: { sub: "appliance", kind: "operator" },
    } as const),
    object: { kind: "appliance", id: "appliance" } as const,
  };
  try {
    const requested = await producer
      ?.requested({ ...operation, action: "appliance uninstall" })
      .catch(() => undefined);
    if (requested === undefined)
      say("auditd does not answer: no receiver of the audit log is told of this uninstall");
    else await pause(HAND_OUT_MS);
    const code = await remove();
    if (code !== 0 && requested !== undefined)
      await producer
        ?.outcome({ ...operation, phase: "failed", outcome: { code: "not_removed" } })
        .catch(() => undefined);
    return code;
  } finally {
    await producer?.close();
  }
}
