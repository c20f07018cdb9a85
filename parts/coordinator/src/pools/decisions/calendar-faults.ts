/** What keeps an entry of the calendar from being made. Pure. */
import { minuteOf } from "../../kernel/decisions/node-gate.ts";

/** Instants are Unix milliseconds. @property nodes those that it is of now @property project null: maintenance */
export type PlannedEntry = {
  id: string | null;
  project: string | null;
  nodes: readonly string[];
  from: number;
  until: number;
};

/** Nobody plans further: a date that far is a slip of the pen. */
const FURTHEST_MS = 2 * 366 * 86_400_000;

/** @returns what is wrong with its times; null: nothing */
export function faultOfTimes(
  { from, until }: Pick<PlannedEntry, "from" | "until">,
  now: number,
): string | null {
  if (until <= now) return `until is in the past: ${minuteOf(until)}`;
  if (from >= until) return "from must be before until";
  if (until - now > FURTHEST_MS) return "until is more than two years ahead";
  return null;
}

/**
 * Two reservations, or two times of maintenance, never share a node and a moment. Maintenance may fall into a reservation: then nobody starts there.
 * @returns the first that it would overlap, and where; null: none
 */
export function overlapOf(
  planned: PlannedEntry,
  others: readonly (PlannedEntry & { id: string })[],
): { id: string; node: string; from: number; until: number } | null {
  const nodes = new Set(planned.nodes);
  for (const { id, project, from, until, nodes: theirs } of others) {
    if (id === planned.id || (project === null) !== (planned.project === null)) continue;
    if (until <= planned.from || planned.until <= from) continue;
    const node = theirs.find((one) => nodes.has(one));
    if (node !== undefined) return { id, node, from, until };
  }
  return null;
}
