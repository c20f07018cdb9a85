/**
 * What the supervisor does next, as a pure function of what it sees. Start order follows health, stop order is its reverse, and a part that
 * ends is started again: three times at once, then with a back-off that doubles from one second to one minute.
 */
export type PartState =
  | { phase: "idle" }
  | { phase: "starting"; sinceMs: number; restarts: number }
  | { phase: "healthy"; sinceMs: number; restarts: number }
  /** Runs and does not answer. */
  | { phase: "unhealthy"; sinceMs: number; restarts: number }
  | { phase: "stopping"; sinceMs: number; restarts: number }
  | { phase: "exited"; atMs: number; restarts: number };

export type PlannedPart = {
  name: string;
  after: readonly string[];
  startTimeoutMs: number;
  silenceLimitMs?: number;
  stopGraceMs: number;
  state: PartState;
  /** Stopped by the operator: it stays down until it is started, and nothing else goes with it. */
  isHeld: boolean;
  /** Goes on when everything stops, for the next supervisor to take over. */
  isKept?: boolean;
};

export type Action =
  | { do: "start"; part: string }
  | { do: "stop"; part: string }
  | { do: "kill"; part: string };

/** A part that ran this long has proven itself: its next crash counts as the first. */
export const PROVEN_AFTER_MS = 60_000;
const RESTARTS_AT_ONCE = 3;
const MAX_BACKOFF_MS = 60_000;
/** A part that runs but does not answer for this long is started afresh, unless it says otherwise. */
const SILENCE_LIMIT_MS = 60_000;

/** Wait before start number `restarts` + 1, milliseconds. */
export function backoffMs(restarts: number): number {
  return restarts < RESTARTS_AT_ONCE
    ? 0
    : Math.min(MAX_BACKOFF_MS, 1000 * 2 ** (restarts - RESTARTS_AT_ONCE));
}

export function isAlive(state: PartState): boolean {
  return state.phase !== "idle" && state.phase !== "exited";
}

/** @param wanted `run` brings everything up, `stop` takes everything down in reverse order */
export function plan(
  parts: readonly PlannedPart[],
  wanted: "run" | "stop",
  nowMs: number,
): Action[] {
  return wanted === "run" ? planRun(parts, nowMs) : planStop(parts, nowMs);
}

function planRun(parts: readonly PlannedPart[], nowMs: number): Action[] {
  const states = new Map(parts.map((part) => [part.name, part.state]));
  const actions: Action[] = [];
  for (const {
    name,
    after,
    state,
    startTimeoutMs,
    silenceLimitMs = SILENCE_LIMIT_MS,
    stopGraceMs,
    isHeld,
  } of parts) {
    if (isHeld && state.phase !== "stopping") {
      if (isAlive(state)) actions.push({ do: "stop", part: name });
      continue;
    }
    switch (state.phase) {
      case "idle":
      case "exited": {
        const due = state.phase === "idle" || nowMs >= state.atMs + backoffMs(state.restarts);
        // Only a first start waits for the others: a part that crashed is back before it is asked what it depends on.
        const ready =
          state.phase === "exited" ||
          after.every((other) => states.get(other)?.phase === "healthy");
        if (due && ready) actions.push({ do: "start", part: name });
        break;
      }
      case "starting":
        if (nowMs > state.sinceMs + startTimeoutMs) actions.push({ do: "stop", part: name });
        break;
      case "unhealthy":
        if (nowMs > state.sinceMs + silenceLimitMs) actions.push({ do: "stop", part: name });
        break;
      case "stopping":
        if (nowMs > state.sinceMs + stopGraceMs) actions.push({ do: "kill", part: name });
        break;
      case "healthy":
        break;
    }
  }
  return actions;
}

function planStop(parts: readonly PlannedPart[], nowMs: number): Action[] {
  const actions: Action[] = [];
  for (const { name, state, stopGraceMs, isKept } of parts) {
    if (isKept === true) continue;
    if (state.phase === "stopping") {
      if (nowMs > state.sinceMs + stopGraceMs) actions.push({ do: "kill", part: name });
      continue;
    }
    const dependants = parts.filter((other) => other.after.includes(name));
    if (isAlive(state) && dependants.every((other) => !isAlive(other.state)))
      actions.push({ do: "stop", part: name });
  }
  return actions;
}
