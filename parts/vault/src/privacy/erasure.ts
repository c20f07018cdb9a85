/** Erasure of everything that opens a subject's commitments, at the word of two people, whose signatures are checked here. */
import { randomUUID } from "node:crypto";
import type { EraseReply, EraseRequest } from "@resontech/contracts/vault-control";
import type { Approved } from "@resontech/audit/approvals/evaluate-approval";
import { erasureObjection, HOLDS_IN_DOUBT, type Objection } from "../decisions/approval.ts";
import type { KeyName } from "../keys/key-table.ts";
import type { VaultParts } from "../parts.ts";
import { opened, type OperationDraft } from "../record/on-record.ts";
import { claimedPeople, HOST_OPERATOR } from "../record/host-command.ts";
import { grantedInTurn } from "../record/refusals.ts";
import { VaultRefused } from "../vault-refused.ts";
import type { Act } from "../record/acts.ts";
import type { ErasedOfShard } from "./commitments-root.ts";
import { type Destroying, type Destruction, hasLeft, type Logged } from "./destruction.ts";
import { approvedDetail, judged, provenActor, usedObjection } from "./signed-requests.ts";

/** What is kept of it: the tokens are not. An act of an older release names people whose word nothing proved. */
type Asked = Omit<EraseRequest, "verb" | "approval"> &
  ({ approved: Approved } | { approved?: undefined; requester: string; approvers: string[] });
type AskedNow = Extract<Asked, { approved: Approved }>;

export class Erasures {
  readonly #parts: VaultParts;
  readonly #destruction: Destruction;

  constructor(parts: VaultParts, destruction: Destruction) {
    this.#parts = parts;
    this.#destruction = destruction;
  }

  /**
   * Resolves once the log has that it is done, and that nothing was found any more. What lies in more shards than one outcome names is done
   * by several operations, which have the request's name in common.
   * @throws VaultRefused, AuditUnavailable: after the request is durable it is gone on with once auditd is back, up to what its outcome tells of
   */
  async erase(request: EraseRequest): Promise<EraseReply> {
    const { subject, request: name, legalBasis } = request;
    const approved = await judged(this.#parts, request);
    const asked: AskedNow = { subject, request: name, legalBasis, approved };
    let act = await this.#eraseOnce(asked);
    const done = [act];
    while (hasLeft(act)) {
      act = await this.#eraseOnce(asked);
      done.push(act);
    }
    return replyOf(done);
  }

  async #eraseOnce(asked: AskedNow): Promise<Act> {
    const { acts, outbox, record } = this.#parts;
    const op = randomUUID();
    const objection = (): Objection | null => {
      if (outbox.holdsInDoubt) return HOLDS_IN_DOUBT;
      const isUnderWay = acts
        .underWay()
        .some(({ kind, subject }) => kind === "erasure" && subject === asked.subject);
      return erasureObjection(asked.subject, acts.holdsOf(asked.subject), {
        isUnderWay,
        used: usedObjection(acts, "erasure", asked.approved),
      });
    };
    // Of two at once the second finds the first.
    await grantedInTurn(
      this.#parts,
      { verb: "erase", proven: asked.approved.requester },
      objection,
      () =>
        opened(
          record,
          acts,
          { kind: "erasure", subject: asked.subject, request: asked },
          draftOf(op, asked),
        ),
    );
    return await this.goOn(op);
  }

  goOn(op: string): Promise<Act> {
    const asked = this.#parts.acts.get(op).request as Asked;
    return this.#destruction.goOn(op, this.#destroying(op, asked));
  }

  /** Of one that the log has ended; holds that stand were set before or after. In its turn. */
  again(op: string, logged: Logged): Promise<void> {
    const asked = this.#parts.acts.get(op).request as Asked;
    return this.#destruction.again(
      op,
      this.#destroying(op, asked),
      () => this.#monthsOf(asked.subject),
      logged,
    );
  }

  #monthsOf(subject: string): KeyName[] {
    const { keys, store } = this.#parts;
    const months = new Set(
      [...keys.rowsOf(subject), ...store.subjectMonthsOf(subject)].map(({ month }) => month),
    );
    return [...months].map((month) => ({ subject, month }));
  }

  #destroying(op: string, asked: Asked): Destroying {
    const { acts } = this.#parts;
    const draft = draftOf(op, asked);
    const { subject, request } = asked;
    return {
      draft,
      names: () => {
        const holds = acts.holdsOf(subject);
        if (holds.length > 0)
          throw new VaultRefused("legal_hold", `a legal hold stands: ${holds.join(", ")}`);
        return this.#monthsOf(subject);
      },
      detail: () => ({
        ...detailOf(asked),
        handed_out: acts.disclosuresOf(subject),
      }),
      confirmation: (lookedFor) => ({
        ...{ type: "privacy.erasure", phase: "fact", op, actor: draft.actor, object: draft.object },
        detail: { request, looked_for: lookedFor },
      }),
    };
  }
}

function draftOf(op: string, asked: Asked): OperationDraft {
  return {
    ...({ type: "privacy.erasure", op, action: "vault erase" } as const),
    actor: asked.approved === undefined ? HOST_OPERATOR : provenActor(asked.approved),
    object: { kind: "user", id: asked.subject },
    detail: detailOf(asked),
  };
}

function detailOf(asked: Asked) {
  const named = { request: asked.request, legal_basis: asked.legalBasis };
  if (asked.approved === undefined) return { ...named, ...claimedPeople(asked) };
  return { ...named, ...approvedDetail(asked.approved) };
}

type Result = { erased: ErasedOfShard[]; final_after: string; handed_out: number };

/** Sums up the acts of one request, in order; the first names it. */
function replyOf(acts: readonly Act[]): EraseReply {
  const results = acts.map(({ result }) => result as Result);
  const counts = new Map<string, number>();
  for (const { origin, commitments_count: count } of results.flatMap(({ erased }) => erased))
    counts.set(origin, (counts.get(origin) ?? 0) + count);
  return {
    op: acts[0]!.op,
    erased: [...counts].map(([origin, count]) => ({ origin, count })),
    finalAfter: results
      .map(({ final_after: finalAfter }) => finalAfter)
      .sort()
      .at(-1)!,
    handedOut: results.at(-1)!.handed_out,
    confirmed: acts.every(({ state }) => state === "done"),
  };
}
