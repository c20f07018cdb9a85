/** Every state of a node; silence makes it SUSPECT, then DEAD. */
import { NODE_LADDER } from "../disk/disk-ladder.ts";

export const NODE_STATES = ["JOINED", "READY", "SUSPECT", "DEAD", "REVOKED"] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** What people call them, on pages and in shells. */
export const NODE_WORDS: Readonly<Record<NodeState, string>> = {
  ...{ JOINED: "joined", READY: "ready", SUSPECT: "silent", DEAD: "dead", REVOKED: "removed" },
};

const WITHOUT_WORK: Readonly<Record<NodeState, string | null>> = {
  JOINED: "it was not heard yet",
  READY: null,
  SUSPECT: "it is silent",
  DEAD: "it was given up",
  REVOKED: "it was removed",
};

/**
 * Why a node is given no new work, in words that follow "because"; null when it is given some. One answer for pages and shells.
 * @property drained why somebody keeps it out of work @property freeBytes of the disk of its jobs; null: not told yet
 */
export function whyNoWork({
  state,
  drained,
  freeBytes,
}: {
  state: NodeState;
  drained: string | null;
  freeBytes: number | null;
}): string | null {
  const isFull = freeBytes !== null && freeBytes < NODE_LADDER.workBytes;
  const whys = [WITHOUT_WORK[state], drained, isFull ? "its disk is full" : null];
  const known = whys.filter((why) => why !== null);
  return known.length === 0 ? null : known.join("; ");
}
