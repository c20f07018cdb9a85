import { PROOFS } from "./catalogue.ts";
import type { ProofRecord } from "./proof-record.ts";

export type Plan = {
  /** In the order in which they run: never run first, then the oldest. */
  run: string[];
  /** What the time left has no room for. */
  left: string[];
};

/** Which proofs fit into so many minutes. */
export function planAll(minutes: number, records: ReadonlyMap<string, ProofRecord>): Plan {
  const dateOf = (name: string): string => records.get(name)?.date ?? "";
  const names = Object.keys(PROOFS).sort(
    (a, b) => dateOf(a).localeCompare(dateOf(b)) || minutesOf(a) - minutesOf(b),
  );
  const plan: Plan = { run: [], left: [] };
  let room = minutes;
  for (const name of names) {
    const fits = minutesOf(name) <= room;
    (fits ? plan.run : plan.left).push(name);
    if (fits) room -= minutesOf(name);
  }
  return plan;
}

function minutesOf(name: string): number {
  return PROOFS[name]?.minutes ?? 0;
}
