import { ANONYMOUS } from "@resontech/audit/format/event/subject";
import type { RetentionClass } from "./retention.ts";

/** An act that destroyed keys. */
export type DestroyingAct = {
  kind: "erasure" | "retention";
  subject: string | null;
  before: string | null;
  class: RetentionClass | null;
  /** Not when it was asked for: keys that were made until then went with the others. */
  destroyedAt: number;
};

/** Whether a copy's key may come back: not where somebody had it destroyed after it was made. */
export function mayRestore(
  key: { subject: string; month: string; madeAt: number },
  acts: readonly DestroyingAct[],
): boolean {
  return !acts.some((act) => {
    if (key.madeAt > act.destroyedAt) return false;
    if (act.kind === "erasure") return act.subject === key.subject;
    return (
      act.before !== null &&
      key.month < act.before &&
      (act.class === "anonymous") === (key.subject === ANONYMOUS)
    );
  });
}
