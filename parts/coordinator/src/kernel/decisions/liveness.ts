/**
 * Which nodes answer. Pure: one look at all of them at an instant of the monotonic clock. The server counts from the moment that it
 * received a beat; an agent without answer for its lease of 30 s has stopped its work 8 s later, so at 40 s nothing of it runs any more.
 * Before a planned stop agents are given a longer lease: then as much later, and as long as one may hold such a lease (granted-leases.ts).
 */

export const LIVENESS = {
  leaseMs: 30_000,
  suspectAfterMs: 12_000,
  /** After the longest lease that a node may hold. */
  deadAfterLeaseMs: 10_000,
  /** Beats in a row that make a node READY again. */
  goodBeats: 3,
  /** Returns within the window that cordon it. */
  flaps: 3,
  flapWindowMs: 600_000,
  /** With a loop slower than this, silence may be our own. */
  maxOwnLagMs: 1_000,
  /** More nodes SUSPECT at once than this, absolute and as a part of all, and the fault is not theirs. */
  maxSuspectNodes: 2,
  maxSuspectShare: 0.2,
} as const;

export type NodeLiveness = {
  node: string;
  state: "READY" | "SUSPECT" | "DEAD";
  silentMs: number;
  /** Since the longest lease ended that it may hold; negative until then. */
  leaselessMs: number;
  goodBeats: number;
};
export type LivenessFacts = {
  nodes: readonly NodeLiveness[];
  ownLagMs: number;
};
export type LivenessDecision = { node: string; to: "READY" | "SUSPECT" | "DEAD" };
/** `brake`: why nobody was declared dead although somebody was silent long enough. */
export type LivenessVerdict = {
  decisions: LivenessDecision[];
  brake: "own_lag" | "many_suspect" | null;
};

export function evaluateLiveness({ nodes, ownLagMs }: LivenessFacts): LivenessVerdict {
  const decisions: LivenessDecision[] = [];
  for (const { node, state, silentMs, goodBeats } of nodes) {
    if (state === "READY" && silentMs >= LIVENESS.suspectAfterMs)
      decisions.push({ node, to: "SUSPECT" });
    if (state !== "READY" && silentMs < LIVENESS.suspectAfterMs && goodBeats >= LIVENESS.goodBeats)
      decisions.push({ node, to: "READY" });
  }
  const silent = nodes.filter(
    ({ state, silentMs }) => state !== "DEAD" && silentMs >= LIVENESS.suspectAfterMs,
  );
  const dead = silent.filter(({ leaselessMs }) => leaselessMs >= LIVENESS.deadAfterLeaseMs);
  const brake = dead.length === 0 ? null : brakeOf(silent.length, nodes.length, ownLagMs);
  if (brake === null) for (const { node } of dead) decisions.push({ node, to: "DEAD" });
  return { decisions, brake };
}

function brakeOf(silent: number, all: number, ownLagMs: number): LivenessVerdict["brake"] {
  if (ownLagMs > LIVENESS.maxOwnLagMs) return "own_lag";
  const limit = Math.max(LIVENESS.maxSuspectNodes, all * LIVENESS.maxSuspectShare);
  return silent > limit ? "many_suspect" : null;
}

/** The returns that still count after one more, and whether they are too many. */
export function evaluateFlap(
  earlier: readonly number[],
  now: number,
): { flaps: number[]; isCordoned: boolean } {
  const flaps = [...earlier.filter((at) => now - at < LIVENESS.flapWindowMs), now];
  return { flaps, isCordoned: flaps.length >= LIVENESS.flaps };
}
