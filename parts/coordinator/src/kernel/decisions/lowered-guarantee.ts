/** Whether a change of shares takes from somebody what was sure. Pure. */
import type { Amounts, Share } from "./shares.ts";

/** A limit counts as well: below a guarantee it takes the rest of it away. */
export function lowersGuarantee(before: readonly Share[], after: readonly Share[]): boolean {
  const sure = sureOf(after);
  return [...sureOf(before)].some(([id, amounts]) =>
    Object.entries(amounts).some(([model, count]) => (sure.get(id)?.[model] ?? 0) < count),
  );
}

/** By share, workers that it and all below it are sure of together. */
function sureOf(shares: readonly Share[]): Map<string, Amounts> {
  const below = Map.groupBy(shares, ({ parent }) => parent);
  const models = [...new Set(shares.flatMap(({ guarantee }) => Object.keys(guarantee)))];
  const sure = (share: Share, model: string): number =>
    Math.min(
      share.limit[model] ?? Infinity,
      Math.max(
        share.guarantee[model] ?? 0,
        (below.get(share.id) ?? []).reduce((sum, one) => sum + sure(one, model), 0),
      ),
    );
  return new Map(
    shares.map((share) => [
      share.id,
      Object.fromEntries(models.map((model) => [model, sure(share, model)])),
    ]),
  );
}
