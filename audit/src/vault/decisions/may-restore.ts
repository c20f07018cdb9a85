import { ANONYMOUS } from "../../decisions/subject.ts";
import type { RetentionClass } from "./retention.ts";

/** An act that destroyed keys, or was about to. */
export type DestroyingAct = {
  kind: "erasure" | "retention";
  subject: string | null;
  before: string | null;
  class: RetentionClass | null;
  beganAt: number;
};

/** Whether a copy's key may come back: not where it was made before somebody had it destroyed. */
export function mayRestore(key: { subject: string; month: string; madeAt: number }, acts: readonly DestroyingAct[]): boolean {
  return !acts.some((act) => {
    if (key.madeAt > act.beganAt) return false;
    if (act.kind === "erasure") return act.subject === key.subject;
    return act.before !== null && key.month < act.before && (act.class === "anonymous") === (key.subject === ANONYMOUS);
  });
}
