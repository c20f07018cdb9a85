/** Told at registration; the release's own number. */
export const AGENT_VERSION = "0.1.0";
