/** Opens what subjects' entries of one shard hold, for a receiver who is on record before. What was erased is marked so, whoever it was about. */
import { randomUUID } from "node:crypto";
import type { DisclosureEnd, DisclosureLine, DiscloseRequest } from "@resontech/contracts/vault-control";
import { approvalObjection } from "../decisions/approval.ts";
import type { VaultParts } from "../parts.ts";
import { opened, outcomeOf, type OperationDraft } from "../record/on-record.ts";
import { VaultRefused } from "../vault-refused.ts";
import { unsealValue } from "./sealed-value.ts";

const PAGE_ROWS = 1_000;

/**
 * Holds the vault's turn until its last line was taken: nothing is erased meanwhile.
 * @param give resolves once the receiver has taken the line
 * @throws VaultRefused, AuditUnavailable before the first line
 */
export async function disclose(
  parts: VaultParts,
  asked: DiscloseRequest,
  give: (line: DisclosureLine) => Promise<void>,
): Promise<DisclosureEnd> {
  const { acts, record, turns } = parts;
  const objection = approvalObjection(asked);
  if (objection !== null) throw new VaultRefused(objection.code, objection.message);
  const drafts = asked.subjects.map((subject) => draftOf(subject, asked));
  return turns.run(async () => {
    for (const draft of drafts) {
      const { origin, receiver } = asked;
      const act = { kind: "disclose", subject: draft.object.id, request: { origin, receiver } } as const;
      await opened(record, acts, act, draft);
    }
    const opens = new Map<string, number>();
    try {
      const erased = await giveAll(parts, asked, give, (subject) => opens.set(subject, (opens.get(subject) ?? 0) + 1));
      for (const draft of drafts) {
        const detail = { receiver: asked.receiver, commitments: opens.get(draft.object.id) ?? 0 };
        acts.advance(draft.op, "done", { say: outcomeOf(draft, "completed", { code: "ok" }, detail) });
      }
      for (const { op } of drafts) await record.durableInTime(op, "completed");
      return { end: { opened: [...opens.values()].reduce((sum, one) => sum + one, 0), erased } };
    } catch (error) {
      for (const draft of drafts)
        if (acts.get(draft.op).state === "requested")
          acts.advance(draft.op, "failed", { say: outcomeOf(draft, "failed", { code: "interrupted" }) });
      throw error;
    }
  });
}

/** @returns how many were marked as erased */
async function giveAll(
  { acts, outbox, record, intake, keys, store, signal }: VaultParts,
  { origin, subjects }: DiscloseRequest,
  give: (line: DisclosureLine) => Promise<void>,
  onOpened: (subject: string) => void,
): Promise<number> {
  await intake.drain(record.connection, signal);
  if (subjects.some((subject) => acts.isDoomed(subject)))
    throw new VaultRefused("erasure_under_way", "values of one of them are being destroyed");
  let erased = 0;
  const begun = new Set<string>();
  for (let after = { index: -1, field: "" }; ; ) {
    const page = store.pageOfShard(origin, subjects, after, PAGE_ROWS);
    for (const row of page) {
      const { index, field } = row;
      const commitment = row.commitment.toString("hex");
      if (row.op !== null) {
        const place = outbox.placeOf(row.op, "completed");
        if (place === null) throw new VaultRefused("erasure_under_way", "an erasure is not on record yet");
        erased += 1;
        await give({ commitment, erased: { index: place.index, origin: place.origin }, field, index });
        continue;
      }
      const key = await keys.find({ subject: row.subject, month: row.month });
      if (key === null) throw new Error(`the key of ${row.month} is gone without an erasure`);
      // From here on it counts as handed out, whatever becomes of the rest.
      if (!begun.has(row.subject)) acts.noteDisclosed(origin, row.subject);
      begun.add(row.subject);
      await give({ commitment, field, index, ...unsealValue(key, row.commitment, row.sealed) });
      onOpened(row.subject);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return erased;
    after = { index: last.index, field: last.field };
  }
}

function draftOf(subject: string, { receiver, requester, approvers }: DiscloseRequest): OperationDraft {
  return {
    ...({ type: "privacy.disclose", op: randomUUID(), action: "vault disclose" } as const),
    actor: { sub: requester, kind: "operator" },
    object: { kind: "user", id: subject },
    detail: { receiver, requester, approvers },
  };
}
