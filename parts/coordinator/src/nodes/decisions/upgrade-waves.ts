/** Which nodes bring the appliance's release now: one first, then waves. Pure: how each of the order stands in, who may begin out. */

/** `begun`: told, and neither there nor failed. */
export type UpgradeState = "waiting" | "begun" | "done" | "failed";
export type OrderedNode = {
  node: string;
  wave: number;
  state: UpgradeState;
  /** It does not answer: one that has not begun holds nobody up, and comes in when it is back. */
  isAway: boolean;
};
/** Why a node has not begun. */
export type WaitsFor = "itself" | "its turn" | "nothing, for another failed";

const WAVES = 4;

/** @returns the wave of each, from 0: the first alone, then a quarter of all at a time, at least one */
export function wavesOf(nodes: readonly string[]): { node: string; wave: number }[] {
  const size = Math.max(1, Math.floor(nodes.length / WAVES));
  return nodes.map((node, place) => ({
    node,
    wave: place === 0 ? 0 : 1 + Math.floor((place - 1) / size),
  }));
}

/** @returns those that have not begun and may; none once one has failed */
export function mayBegin(ordered: readonly OrderedNode[]): ReadonlySet<string> {
  if (ordered.some(({ state }) => state === "failed")) return new Set();
  const pending = ordered.filter(
    ({ state, isAway }) => state === "begun" || (state === "waiting" && !isAway),
  );
  const wave = Math.min(...pending.map((one) => one.wave));
  return new Set(
    pending.filter((one) => one.state === "waiting" && one.wave === wave).map(({ node }) => node),
  );
}

/** @returns what a node waits for that has not begun; null for any other */
export function waitsFor(ordered: readonly OrderedNode[], node: string): WaitsFor | null {
  const own = ordered.find((one) => one.node === node);
  if (own?.state !== "waiting") return null;
  if (ordered.some(({ state }) => state === "failed")) return "nothing, for another failed";
  return own.isAway ? "itself" : "its turn";
}
