import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import { realmDefinition } from "@resontech/keycloak/realm-definition";
import { realmDrift } from "../src/realm/decisions/realm-drift.ts";
import { readRealm } from "../src/realm/read-realm.ts";
import { RunningKeycloak } from "./helper/running-keycloak.ts";

t.setTimeout(240_000);
const keycloak = await RunningKeycloak.start();
t.teardown(() => keycloak[Symbol.asyncDispose]());
const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwks = JSON.stringify({
  keys: [
    {
      ...key.publicKey.export({ format: "jwk" }),
      kid: "resontech-coordinator",
      alg: "ES256",
      use: "sig",
    },
  ],
});
const want = realmDefinition(
  readFileSync(join(import.meta.dirname, "..", "..", "policies", "realm.json"), "utf8"),
  { origin: keycloak.address.origin, jwks: { dashboard: jwks, coordinator: jwks } },
);
const drift = async () =>
  realmDrift(want, (await readRealm(keycloak.admin, want.realm))?.realm ?? null);

t.test(
  "an empty Keycloak becomes the realm of the definition, and a second time changes nothing",
  async (t) => {
    t.match(await applyRealm(keycloak.admin, want), [{ kind: "realm", what: "missing" }]);
    t.same(await drift(), []);
    t.same(await applyRealm(keycloak.admin, want), []);
  },
);

t.test(
  "the coordinator's client signs in by its key and may read people, and no client",
  async (t) => {
    const pem = key.privateKey.export({ type: "pkcs8", format: "pem" });
    const admin = await KeycloakAdmin.asClient(
      keycloak.address,
      want.realm,
      "resontech-coordinator",
      pem,
    );
    t.same(await admin?.get("/resontech/users"), []);
    await t.rejects(
      Promise.resolve(admin?.put("/resontech", { realm: "resontech", displayName: "X" })),
      {
        code: "keycloak_refused",
        status: 403,
      },
    );
  },
);
