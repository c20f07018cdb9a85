import type { Chosen } from "./choose-workers.ts";
import { ofModels } from "./narrowed-gang.ts";
import type { WaitingGang } from "./placement-facts.ts";
import type { PlacementFleet } from "./placement-fleet.ts";
import { type Amounts, amountsOf, type LimitOver, type ShareLedger } from "./shares.ts";

/**
 * @property able the gang without the models of which its project may never hold as many, or, where it makes way for nobody, is guaranteed less
 * @property asked the same without those of which it may hold no more now
 * @property chosen null: nothing is free
 * @property amounts what it gets, or would be given first
 * @property over a limit that it would pass with each of its models
 * @property isUnsure it makes way for nobody, and none of its models is guaranteed; where nobody is guaranteed anything nobody makes way either
 */
export type FoundWithin = {
  able: WaitingGang;
  asked: WaitingGang;
  chosen: Chosen | null;
  amounts: Amounts;
  over: LimitOver | null;
  isUnsure: boolean;
};

/** What a gang gets at once. A model of which its project may hold no more is left alone where another serves it, too. */
export function findWithinLimits(
  gang: WaitingGang,
  {
    fleet,
    ledger,
    find,
    demandOf,
  }: {
    fleet: PlacementFleet;
    ledger: ShareLedger;
    find: (asked: WaitingGang) => Chosen | null;
    demandOf: (asked: WaitingGang) => Amounts;
  },
): FoundWithin {
  const able = ableOf(gang, fleet, ledger);
  let asked = able;
  let first: FoundWithin | null = null;
  for (;;) {
    const free = find(asked);
    // A node where it failed is left alone while another could take it, if only later.
    const goesBack = asked !== able && free !== null && liesOn(free, fleet.avoidedBy(able));
    const chosen = goesBack ? null : free;
    const amounts = chosen === null ? demandOf(asked) : amountsOf(chosen.workers);
    const over = ledger.limitOver(gang.project, amounts);
    const isUnsure =
      gang.isOnlyGuaranteed === true && ledger.isSet && !ledger.isGuaranteed(gang.project, amounts);
    const found = { able, asked, chosen, amounts, over, isUnsure };
    if (over === null && !isUnsure) return found;
    first ??= found;
    const bound = over?.model ?? Object.keys(amounts)[0];
    const others = fleet.modelsFor(asked).filter((model) => model !== bound);
    if (others.length === 0 || gang.selection.kind !== "auto") return first;
    asked = ofModels(gang, others);
  }
}

function ableOf(gang: WaitingGang, fleet: PlacementFleet, ledger: ShareLedger): WaitingGang {
  const { project, size, selection, isOnlyGuaranteed = false } = gang;
  if (selection.kind !== "auto" || !(ledger.isLimited || (isOnlyGuaranteed && ledger.isSet)))
    return gang;
  const models = fleet.modelsWithEmptyPools(gang);
  const able = models.filter((model) => {
    const amounts = { [model]: size };
    if (ledger.neverFits(project, amounts)) return false;
    return !isOnlyGuaranteed || ledger.mayGuarantee(project, amounts);
  });
  return able.length === 0 || able.length === models.length ? gang : ofModels(gang, able);
}

function liesOn({ workers }: Chosen, nodes: ReadonlySet<string>): boolean {
  return workers.some(({ node }) => nodes.has(node));
}
