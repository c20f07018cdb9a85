/** How each share stands: what of its guarantee it holds, what of it others hold meanwhile, and what it holds beyond any guarantee. Pure. */
import type { Amounts, Share } from "./shares.ts";

export type ShareStanding = { guaranteeUsed: Amounts; lent: Amounts; borrowed: Amounts };

/**
 * @param held by share, that of all below it counted
 * @param free workers that nobody holds and that could be given, by model
 */
export function shareStandings(
  shares: readonly Share[],
  held: ReadonlyMap<string, Amounts>,
  free: Amounts,
): Map<string, ShareStanding> {
  const byId = new Map(shares.map((share) => [share.id, share]));
  const heldOf = (id: string, model: string) => held.get(id)?.[model] ?? 0;
  const excess = ({ id, guarantee }: Share, model: string) =>
    Math.max(0, heldOf(id, model) - (guarantee[model] ?? 0));
  return new Map(
    shares.map((share) => {
      const { id, guarantee } = share;
      const used = (model: string) => Math.min(heldOf(id, model), guarantee[model] ?? 0);
      const path = pathOf(share, byId);
      return [
        id,
        {
          guaranteeUsed: amountsBy(Object.keys(guarantee), used),
          // What is free it would be given at once.
          lent: amountsBy(Object.keys(guarantee), (model) =>
            Math.max(0, (guarantee[model] ?? 0) - used(model) - (free[model] ?? 0)),
          ),
          borrowed: amountsBy(Object.keys(held.get(id) ?? {}), (model) =>
            Math.min(...path.map((one) => excess(one, model))),
          ),
        },
      ];
    }),
  );
}

/** From the share up. */
function pathOf(share: Share, byId: ReadonlyMap<string, Share>): Share[] {
  const path: Share[] = [];
  for (
    let one: Share | undefined = share;
    one !== undefined && !path.includes(one);
    one = one.parent === null ? undefined : byId.get(one.parent)
  )
    path.push(one);
  return path;
}

/** Without the models of which there is nothing. */
function amountsBy(models: readonly string[], of: (model: string) => number): Amounts {
  return Object.fromEntries(
    models.map((model) => [model, of(model)] as const).filter(([, count]) => count > 0),
  );
}
