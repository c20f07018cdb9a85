/** What an earlier life of the process left without an end: what it had not done anything for has failed; what destroys is gone on with. */
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { outcomeOf, type OperationDraft } from "../record/on-record.ts";
import type { Act, Acts } from "../record/acts.ts";

/** @param ops under way when the process began. Once it is known what of them the log has ended: of that nothing is said any more. */
export function closeInterrupted(acts: Acts, ops: ReadonlySet<string>): void {
  for (const act of acts.underWay()) {
    if (!ops.has(act.op)) continue;
    if (act.kind === "refusal") acts.advance(act.op, "done");
    else if (act.state === "asked" || act.kind === "hold" || act.kind === "disclose")
      acts.advance(act.op, "failed", {
        say: outcomeOf(draftOf(act), "failed", { code: "interrupted" }),
      });
  }
}

export const ACT_TYPES = {
  erasure: "privacy.erasure",
  retention: "privacy.retention",
  hold: "privacy.hold",
  disclose: "privacy.disclose",
  refusal: "privacy.refusal",
} as const satisfies Record<Act["kind"], EventDraft["type"]>;

function draftOf({ op, kind, subject }: Act): OperationDraft {
  return {
    type: ACT_TYPES[kind] as OperationDraft["type"],
    op,
    actor: { sub: "vault", kind: "system" },
    object: subject === null ? { kind: "log", id: "vault" } : { kind: "user", id: subject },
  };
}
