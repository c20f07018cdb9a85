/** How long a session of a browser lives. Pure. */

/** Without anything that a person did, where the configuration says nothing else. */
export const IDLE_MS = 15 * 60_000;
/** At most, whatever the person does. */
export const LIFE_MS = 8 * 3_600_000;
/** After so long without an answer of Keycloak the next request asks whether the person may still be here. */
export const CHECK_MS = 2 * 60_000;
/** Activity is written at most so often. */
export const ACTIVITY_STEP_MS = 60_000;
export type SessionEnd = "idle" | "expired";

/** Why a session is over; null while it lives. Instants in Unix milliseconds. @param idleMs without anything that the person did */
export function sessionEnd(
  { activeAt, endsAt }: { activeAt: number; endsAt: number },
  now: number,
  idleMs: number,
): SessionEnd | null {
  if (now >= endsAt) return "expired";
  return now - activeAt >= idleMs ? "idle" : null;
}
