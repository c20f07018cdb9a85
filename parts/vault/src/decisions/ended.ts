/** What the vault makes of what the log has ended, and a database that was put back has not: the log is the truth of it. */
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { ActKind, ActState } from "./act-state.ts";

type Phase = EventDraft["phase"];
type Said = { phase: Phase };
export type Outcome = "completed" | "failed" | "denied";
/** `destroy`: once more, what the log says is gone; then as `confirm` or `done`. `confirm`: the fact that follows is still to be said. */
export type Ending = "destroy" | "confirm" | "done" | "failed";

export function isOutcome(phase: Phase): phase is Outcome {
  return phase === "completed" || phase === "failed" || phase === "denied";
}

/** Finds how something ended; null where it is not known any more: the shard in which it stands is gone. */
export function outcomeIn(said: readonly Said[]): Outcome | null {
  return said.map(({ phase }) => phase).find(isOutcome) ?? null;
}

/** Whether the fact is still to be said that follows an erasure. */
export function awaitsFact({ kind }: { kind: ActKind }, said: readonly Said[]): boolean {
  return (
    kind === "erasure" &&
    outcomeIn(said) === "completed" &&
    !said.some(({ phase }) => phase === "fact")
  );
}

/** @param said all that the log says of an act that is under way here, and has its outcome there */
export function endingOf(act: { kind: ActKind; state: ActState }, said: readonly Said[]): Ending {
  const isDone = outcomeIn(said) === "completed";
  if (act.kind !== "erasure" && act.kind !== "retention") return isDone ? "done" : "failed";
  if (act.state === "asked" || act.state === "requested") return isDone ? "destroy" : "failed";
  // What has begun to go is not there to be kept.
  if (act.state === "destroying" || act.state === "destroyed") return "destroy";
  return awaitsFact(act, said) ? "confirm" : "done";
}

/**
 * Whether a record that the log may not have is said in a new life.
 * @param said what the log says of its operation
 * @param isOpen the log has it without an outcome, or its request is said again before
 */
export function isSaidAgain(phase: Phase, said: readonly Said[], isOpen: boolean): boolean {
  if (said.some((one) => one.phase === phase)) return false;
  if (phase === "requested") return !isOpen && outcomeIn(said) === null;
  return !isOutcome(phase) || isOpen;
}
