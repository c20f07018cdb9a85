import t from "tap";
import { changeOfKeys, pinnedKeys } from "../../src/keycloak/decisions/pinned-keys.ts";

const NOW_S = 1_800_000_000;
const DAY_S = 86_400;
const x = (letter: string): string => letter.repeat(43);
const realmKey = (kid: string, changes: object = {}) => ({
  ...{ kid, kty: "EC", crv: "P-256", use: "sig", alg: "ES256", x: x("A"), y: x("B") },
  ...changes,
});
const pinned = (kid: string, notAfter: number | null = null) => ({
  ...{ kid, x: x("A"), y: x("B"), notAfter },
});

t.test("keys that sign with ES256 are pinned, and no other", async (t) => {
  const realm = [
    realmKey("k2"),
    realmKey("k1"),
    realmKey("for-encryption", { use: "enc" }),
    realmKey("rsa", { kty: "RSA", alg: "RS256" }),
    realmKey("p384", { crv: "P-384", alg: "ES384" }),
    realmKey("hmac", { kty: "oct", alg: "HS256" }),
    realmKey("short", { x: "AA" }),
    { ...realmKey("nameless"), kid: undefined },
  ];
  t.same(pinnedKeys([], realm, NOW_S), [pinned("k1"), pinned("k2")]);
});

t.test("a key that the realm gave up stays for what it signed before, and then goes", async (t) => {
  const rotated = pinnedKeys([pinned("k1")], [realmKey("k2")], NOW_S);
  t.same(rotated, [pinned("k1", NOW_S), pinned("k2")]);
  t.same(
    pinnedKeys(rotated, [realmKey("k2")], NOW_S + DAY_S),
    rotated,
    "the moment does not move with each look",
  );
  t.same(pinnedKeys(rotated, [realmKey("k2")], NOW_S + 5 * DAY_S), [pinned("k2")]);
  t.same(
    pinnedKeys(rotated, [realmKey("k1"), realmKey("k2")], NOW_S + 1),
    [pinned("k1"), pinned("k2")],
    "one that came back is good again",
  );
});

t.test("another key under a known name takes nothing over from it", async (t) => {
  const other = pinnedKeys([pinned("k1")], [realmKey("k1", { x: x("C") })], NOW_S);
  t.same(other, [{ ...pinned("k1"), x: x("C") }, pinned("k1", NOW_S)]);
  const file = { issuer: "https://a", audience: "b", holders: {} };
  t.same(changeOfKeys({ ...file, keys: [pinned("k1")] }, { ...file, keys: other }), {
    ...{ added: 1, retired: 1 },
  });
  t.same(changeOfKeys(null, { ...file, keys: [pinned("k1")] }), { added: 1, retired: 0 });
});
