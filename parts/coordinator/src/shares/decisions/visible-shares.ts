/** What somebody sees of all shares who sees some projects: these with all that stands above them, and of what is beside them the sum. Pure. */
import type { PersonLimits, ShareView } from "../../kernel/share-table.ts";
import type { Amounts } from "../../kernel/decisions/shares.ts";

/** All that is hidden below one parent. */
export type OtherShares = Omit<
  ShareView,
  "id" | "kind" | "name" | "limit" | "weight" | keyof PersonLimits
> & {
  parent: string;
};

/** @param isSeen whether a project is one of the caller's */
export function visibleShares(
  shares: readonly ShareView[],
  isSeen: (project: string) => boolean,
): { seen: ShareView[]; others: OtherShares[] } {
  const byId = new Map(shares.map((share) => [share.id, share]));
  const seen = new Set<string>();
  for (const { id, kind } of shares)
    if (kind === "project" && isSeen(id))
      for (
        let one = byId.get(id);
        one !== undefined && !seen.has(one.id);
        one = one.parent === null ? undefined : byId.get(one.parent)
      )
        seen.add(one.id);
  const hidden = shares.filter(
    ({ id, parent }) => !seen.has(id) && parent !== null && seen.has(parent),
  );
  return {
    seen: shares.filter(({ id }) => seen.has(id)),
    others: [...Map.groupBy(hidden, ({ parent }) => parent!)].map(([parent, of]) => ({
      parent,
      guarantee: sumOf(of, "guarantee"),
      held: sumOf(of, "held"),
      used: sumOf(of, "used"),
      guaranteeUsed: sumOf(of, "guaranteeUsed"),
      lent: sumOf(of, "lent"),
      borrowed: sumOf(of, "borrowed"),
      queued: of.reduce((sum, { queued }) => sum + queued, 0),
    })),
  };
}

type Counted = "guarantee" | "held" | "used" | "guaranteeUsed" | "lent" | "borrowed";

function sumOf(shares: readonly ShareView[], name: Counted): Amounts {
  const sum: Record<string, number> = {};
  for (const share of shares)
    for (const [model, count] of Object.entries(share[name]))
      sum[model] = (sum[model] ?? 0) + count;
  return sum;
}
