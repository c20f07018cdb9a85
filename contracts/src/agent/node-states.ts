/** Every state of a node; silence makes it SUSPECT, then DEAD. */
export const NODE_STATES = ["JOINED", "READY", "SUSPECT", "DEAD", "REVOKED"] as const;
export type NodeState = (typeof NODE_STATES)[number];
