import type { Change } from "@resontech/contracts/live-feed";

/** A change, and when it was. */
export type Told = { at: string; change: Change };
