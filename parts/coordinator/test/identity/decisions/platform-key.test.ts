import { randomBytes } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import {
  findPlatformKeys,
  formatPlatformKey,
  hashPlatformKey,
  isPlatformKey,
  keyHandle,
} from "../../../src/identity/decisions/platform-key.ts";

t.test("a key carries 256 bits and a checksum", async (t) => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.constantFrom("live" as const, "dev" as const),
      (random, kind) => {
        const key = formatPlatformKey(kind, random);
        return (
          key.length === `rsk_${kind}_`.length + 49 &&
          isPlatformKey(key) &&
          key.startsWith(`rsk_${kind}_`)
        );
      },
    ),
  );
  t.not(
    formatPlatformKey("live", Buffer.alloc(32, 0)),
    formatPlatformKey("live", Buffer.alloc(32, 1)),
  );
  t.throws(() => formatPlatformKey("live", randomBytes(31)), RangeError);
  t.equal(hashPlatformKey("x").length, 32);
});

t.test("one wrong character is noticed without a database", async (t) => {
  const key = formatPlatformKey("live", randomBytes(32));
  for (let at = "rsk_live_".length; at < key.length; at++) {
    const other = key[at] === "a" ? "b" : "a";
    t.notOk(isPlatformKey(key.slice(0, at) + other + key.slice(at + 1)));
  }
  t.notOk(isPlatformKey(`${key} `));
  t.notOk(isPlatformKey(key.slice(0, -1)));
});

t.test("a scanner finds real keys in a script and no look-alikes", async (t) => {
  const key = formatPlatformKey("dev", randomBytes(32));
  const script = `KEY = "${key}"\nFAKE = "rsk_live_${"a".repeat(49)}"\n# rsk_live_… is how a key begins\nlonger = "${key}x"`;
  t.same(findPlatformKeys(script), [key]);
});

t.test("a list shows the kind, four characters and the last four", async (t) => {
  const key = formatPlatformKey("live", randomBytes(32));
  t.same(keyHandle(key), { prefix: key.slice(0, "rsk_live_".length + 4), last4: key.slice(-4) });
});
