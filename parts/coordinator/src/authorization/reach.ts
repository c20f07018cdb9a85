/** From single answers to the filter of a list. */
import type { RowFilter, RowMatch, RowOwner } from "../db/row-filter.ts";

/** Whether the caller may do it to rows of his own, and to those of others. */
export type Allowance = { own: boolean; others: boolean };
/** `match`: what the rows of the place have in common. */
export type PlaceAllowance = Allowance & { match: RowOwner };

/** Policies allow a set of rows that no list could be filtered by. */
export class UnlistableReach extends Error {
  override readonly name = "UnlistableReach";
  readonly code = "policy_set_invalid";

  constructor() {
    super("the policies allow rows of any project but some: no list can be filtered so");
  }
}

/**
 * The rows that the answers allow, and no other.
 * @param own what the caller's own rows have in common; null where he has none of this kind
 * @param elsewhere for every project that is none of the places
 * @throws UnlistableReach
 */
export function filterOf(
  own: Pick<RowOwner, "userId" | "node"> | null,
  places: readonly PlaceAllowance[],
  elsewhere: Allowance,
): RowFilter {
  const all: readonly Allowance[] = [...places, elsewhere];
  if (own === null) return withoutOwn(places, elsewhere);
  if (all.every((one) => one.own && one.others)) return "all";
  if (all.every((one) => !one.own && one.others)) return [{ not: own }];
  if (elsewhere.others) throw new UnlistableReach();
  const isOwnAnywhere = all.every((one) => one.own);
  if (elsewhere.own && !isOwnAnywhere) throw new UnlistableReach();
  return [
    ...(isOwnAnywhere ? [own] : []),
    ...places.flatMap(({ match, ...allowed }): RowMatch[] => {
      if (allowed.others) return [allowed.own ? match : { ...match, not: own }];
      return allowed.own && !isOwnAnywhere ? [{ ...match, ...own }] : [];
    }),
  ];
}

function withoutOwn(places: readonly PlaceAllowance[], elsewhere: Allowance): RowFilter {
  if ([...places, elsewhere].every(({ others }) => others)) return "all";
  if (elsewhere.others) throw new UnlistableReach();
  return places.flatMap(({ match, others }) => (others ? [match] : []));
}
