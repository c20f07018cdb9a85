/** What is pinned of the realm's keys, from what was pinned and what Keycloak has now. Pure. */
import type { StepUpKey, StepUpKeys } from "@resontech/contracts/step-up-keys";

/** A key of the realm's JWKS, as far as it is looked at. */
export type RealmKey = Readonly<Record<string, unknown>>;

/** A request lives three days, an approval one: what was signed with a key is good no longer after it. */
const KEPT_S = 5 * 86_400;
const COORDINATE = /^[A-Za-z0-9_-]{43}$/;

/**
 * Keys that the realm signs with; those that it gave up stay for what they signed before.
 * @param nowS Unix seconds
 */
export function pinnedKeys(
  before: readonly StepUpKey[],
  realm: readonly RealmKey[],
  nowS: number,
): StepUpKey[] {
  const living = realm.flatMap(signingKey);
  const isLiving = ({ kid, x, y }: StepUpKey): boolean =>
    living.some((one) => one.kid === kid && one.x === x && one.y === y);
  const givenUp = before
    .filter((one) => !isLiving(one))
    .map((one) => ({ ...one, notAfter: one.notAfter ?? nowS }))
    .filter(({ notAfter }) => notAfter + KEPT_S > nowS);
  return [...living, ...givenUp].toSorted((one, other) => (one.kid < other.kid ? -1 : 1));
}

/** ES256 alone: a key for anything else could sign nothing that is taken. */
function signingKey({ kid, kty, crv, use, alg, x, y }: RealmKey): StepUpKey[] {
  const isOurs = kty === "EC" && crv === "P-256" && use === "sig" && (alg ?? "ES256") === "ES256";
  if (!isOurs || typeof kid !== "string" || !isCoordinate(x) || !isCoordinate(y)) return [];
  return [{ kid, x, y, notAfter: null }];
}

/** How many keys of the realm are new in the file, and how many it gave up. */
export function changeOfKeys(
  before: StepUpKeys | null,
  after: StepUpKeys,
): { added: number; retired: number } {
  const living = (of: StepUpKeys | null): Set<string> =>
    new Set(
      (of?.keys ?? []).flatMap(({ kid, x, notAfter }) =>
        notAfter === null ? [`${kid} ${x}`] : [],
      ),
    );
  const [old, now] = [living(before), living(after)];
  const lacking = (all: Set<string>, other: Set<string>): number =>
    [...all].filter((one) => !other.has(one)).length;
  return { added: lacking(now, old), retired: lacking(old, now) };
}

function isCoordinate(value: unknown): value is string {
  return typeof value === "string" && COORDINATE.test(value);
}
