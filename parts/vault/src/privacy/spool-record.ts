/** What keeps the vault from taking over what waits is told in the log once, and once that it is over. */
import { randomUUID } from "node:crypto";
import type { SpoolBlocked } from "./intake.ts";
import type { AuditRecord } from "../record/audit-record.ts";
import type { Outbox } from "../record/outbox.ts";

const NAME = "blocked-spool";
type Blocked = { origin: string; segment: string; reason: string };

/** @param now null when all that waited was taken over. @throws AuditUnavailable: the log gets it later */
export async function recordSpool(
  outbox: Outbox,
  record: AuditRecord,
  now: SpoolBlocked | null,
): Promise<void> {
  const text = outbox.said(NAME);
  const before = text === "" ? null : (JSON.parse(text) as Blocked);
  if (
    now === null ? before === null : now.origin === before?.origin && now.segment === before.segment
  )
    return;
  const { origin, segment, reason } = (now ?? before)!;
  const op = randomUUID();
  outbox.say(
    {
      ...({ type: "privacy.spool", phase: "fact", op } as const),
      ...{ actor: { sub: "vault", kind: "system" }, object: { kind: "log", id: "vault" } },
      detail: { origin, segment, reason, over: now === null },
    },
    NAME,
    now === null ? "" : JSON.stringify({ origin, segment, reason } satisfies Blocked),
  );
  await record.durableInTime(op, "fact");
}
