/** Opens what subjects' entries of one shard hold, for a receiver who is on record before. What was erased is marked so, whoever it was about. */
import { randomUUID } from "node:crypto";
import type {
  DisclosureEnd,
  DisclosureLine,
  DiscloseRequest,
} from "@resontech/contracts/vault-control";
import type { Approved } from "@resontech/audit/approvals/evaluate-approval";
import type { VaultParts } from "../parts.ts";
import { opened, outcomeOf, type OperationDraft } from "../record/on-record.ts";
import { grantedInTurn } from "../record/refusals.ts";
import { VaultRefused } from "../vault-refused.ts";
import { isStated } from "./destruction.ts";
import { unsealValue } from "./sealed-value.ts";
import { approvedDetail, judged, provenActor, usedObjection } from "./signed-requests.ts";

/** So many values may still be given that an erasure has ended since they were read. */
const PAGE_ROWS = 100;

/**
 * Holds the vault's turn while it reads, not while the receiver does: what is erased meanwhile is marked so in the lines that follow.
 * @param give resolves once the receiver has taken the line
 * @throws VaultRefused, AuditUnavailable before the first line
 */
export async function disclose(
  parts: VaultParts,
  asked: DiscloseRequest,
  give: (line: DisclosureLine) => Promise<void>,
): Promise<DisclosureEnd> {
  const { acts, record, intake, turns, signal } = parts;
  const approved = await judged(parts, asked);
  const drafts = asked.subjects.map((subject) => draftOf(subject, asked, approved));
  const begun: OperationDraft[] = [];
  const opens = new Map<string, number>();
  let erased = 0;
  const ops = new Map(drafts.map(({ op, object }) => [object.id, op]));
  try {
    await grantedInTurn(
      parts,
      { verb: asked.verb, proven: approved.requester },
      () => usedObjection(acts, "disclose", approved),
      async () => {
        for (const draft of drafts) {
          const { origin, receiver } = asked;
          const act = {
            kind: "disclose",
            subject: draft.object.id,
            request: { origin, receiver, approved },
          } as const;
          await opened(record, acts, act, draft);
          begun.push(draft);
        }
      },
    );
    await turns.run(async () => intake.drain(record.connection, signal));
    for (let after: Place | null = { index: -1, field: "" }; after !== null; ) {
      const place: Place = after;
      const page = await turns.run(() => readPage(parts, asked, ops, place));
      for (const { line, subject } of page.lines) {
        await give(line);
        if (subject === null) erased += 1;
        else opens.set(subject, (opens.get(subject) ?? 0) + 1);
      }
      after = page.next;
    }
    for (const draft of drafts) {
      const detail = { ...draft.detail, commitments: opens.get(draft.object.id) ?? 0 };
      acts.advance(draft.op, "done", {
        say: outcomeOf(draft, "completed", { code: "ok" }, detail),
      });
    }
    for (const { op } of drafts) await record.durableInTime(op, "completed");
    return { end: { opened: [...opens.values()].reduce((sum, one) => sum + one, 0), erased } };
  } catch (error) {
    for (const draft of begun)
      if (acts.get(draft.op).state === "requested")
        acts.advance(draft.op, "failed", {
          say: outcomeOf(draft, "failed", { code: "interrupted" }),
        });
    throw error;
  }
}

type Place = { index: number; field: string };
/** `subject`: whose value it opens; null for what was erased. `next`: null behind the last page. */
type Page = { lines: { line: DisclosureLine; subject: string | null }[]; next: Place | null };

async function readPage(
  { acts, outbox, keys, store }: VaultParts,
  { origin, subjects }: DiscloseRequest,
  ops: ReadonlyMap<string, string>,
  after: Place,
): Promise<Page> {
  if (subjects.some((subject) => acts.isDoomed(subject)))
    throw new VaultRefused("erasure_under_way", "values of one of them are being destroyed");
  const lines: Page["lines"] = [];
  const rows = store.pageOfShard(origin, subjects, after, PAGE_ROWS);
  for (const row of rows) {
    const { index, field } = row;
    const commitment = row.commitment.toString("hex");
    if (row.op !== null) {
      const place = outbox.placeOf(row.op, "completed");
      const act = acts.get(row.op);
      const isToCome = act.state !== "done" || outbox.unsent.some(({ op }) => op === row.op);
      if (place === null && isToCome)
        throw new VaultRefused("erasure_under_way", "an erasure is not on record yet");
      // Nothing in the log bears it out: it is told of as little as what was never sealed.
      if (place === null || !isStated(act, origin)) continue;
      lines.push({
        line: { commitment, erased: { index: place.index, origin: place.origin }, field, index },
        subject: null,
      });
      continue;
    }
    const { subject, month } = row;
    const key = await keys.find({ subject, month });
    if (key === null) throw new Error(`the key of ${month} is gone without an erasure`);
    lines.push({
      line: { commitment, field, index, ...unsealValue(key, row.commitment, row.sealed) },
      subject,
    });
  }
  // From here on they count as handed out, whatever becomes of the rest.
  for (const subject of new Set(lines.flatMap((one) => one.subject ?? [])))
    acts.noteDisclosed(ops.get(subject)!, origin);
  const last = rows.at(-1);
  return {
    lines,
    next:
      last === undefined || rows.length < PAGE_ROWS
        ? null
        : { index: last.index, field: last.field },
  };
}

function draftOf(
  subject: string,
  { receiver }: DiscloseRequest,
  approved: Approved,
): OperationDraft {
  return {
    ...({ type: "privacy.disclose", op: randomUUID(), action: "vault disclose" } as const),
    actor: provenActor(approved),
    object: { kind: "user", id: subject },
    detail: { receiver, ...approvedDetail(approved) },
  };
}
