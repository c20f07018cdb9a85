/**
 * Whether what has no record of its own may pass. It may while auditd was heard a short while ago: asking for each part would cost thousands of
 * questions a second, so all of them share one a second.
 */

/** A sign of life as old as this has the next request ask for another; nobody waits for that yet. */
export const ASK_AFTER_MS = 1_000;
/** Nothing passes on a sign of life as old as this; it is dated at the latest when auditd gave it. */
export const BELIEVED_MS = 2_000;
/** A question without an answer for so long is overdue: whoever waited for it is refused, and so is everybody who comes before its answer. */
export const ANSWER_MS = 2_000;

/** `silentMs`: since the last sign of life; `unansweredMs`: of the question under way, null for none. */
export type Liveness = { isConnected: boolean; silentMs: number; unansweredMs: number | null };
/** `asks`: a question is to be sent; `wait`: for the answer to the one under way, then. */
export type Admission = { asks: boolean; verdict: "pass" | "wait" | "refuse" };

export function admission({ isConnected, silentMs, unansweredMs }: Liveness): Admission {
  if (!isConnected) return { asks: false, verdict: "refuse" };
  const asks = silentMs >= ASK_AFTER_MS && unansweredMs === null;
  if (silentMs < BELIEVED_MS) return { asks, verdict: "pass" };
  return { asks, verdict: (unansweredMs ?? 0) < ANSWER_MS ? "wait" : "refuse" };
}
