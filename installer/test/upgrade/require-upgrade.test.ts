import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { VerifiedBundle } from "@resontech/airgap/verify-bundle";
import t from "tap";
import type { EarlierRelease } from "../../src/upgrade/earlier-release.ts";
import { requireUpgrade } from "../../src/upgrade/require-upgrade.ts";

const [key, other] = [1, 2].map(() => generateKeyPairSync("ed25519").publicKey) as [
  KeyObject,
  KeyObject,
];
const pemOf = (of: KeyObject): string => of.export({ type: "spki", format: "pem" });
const sha256Of = (of: KeyObject): string =>
  createHash("sha256")
    .update(of.export({ type: "spki", format: "der" }))
    .digest("hex");
const installed = { version: "1.2.0", request: { keyPem: pemOf(key) } } as EarlierRelease;
const bundle = (version: string, upgradeFrom: string[] = [">=1.0.0"]) =>
  ({ release: { version, upgradeFrom } }) as VerifiedBundle;
const no = { allowOlder: false };

t.test("a newer release that was made to follow the installed one is taken", async (t) => {
  t.doesNotThrow(() => requireUpgrade(installed, bundle("1.3.0"), pemOf(key), no));
  t.doesNotThrow(() => requireUpgrade(installed, bundle("1.2.0"), pemOf(key), no), "made anew");
});

t.test("an older one, and one that follows others, are taken when they are meant", async (t) => {
  for (const [given, code] of [
    [bundle("1.1.0"), "release_older"],
    [bundle("2.0.0", [">=1.5.0"]), "upgrade_path_missing"],
    [bundle("2.0.0", []), "upgrade_path_missing"],
  ] as const) {
    t.throws(() => requireUpgrade(installed, given, pemOf(key), no), { code });
    t.doesNotThrow(() => requireUpgrade(installed, given, pemOf(key), { allowOlder: true }));
  }
});

t.test("a bundle of another key is refused unless its SHA-256 is known", async (t) => {
  const changed = { code: "signing_key_changed", message: new RegExp(sha256Of(other)) };
  for (const mode of [no, { allowOlder: true }, { ...no, trustKey: sha256Of(key) }])
    t.throws(() => requireUpgrade(installed, bundle("1.3.0"), pemOf(other), mode), changed);
  const told = { ...no, trustKey: sha256Of(other).toUpperCase() };
  t.doesNotThrow(() => requireUpgrade(installed, bundle("1.3.0"), pemOf(other), told));
});
