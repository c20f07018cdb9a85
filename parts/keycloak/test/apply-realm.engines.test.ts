import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import { realmDefinition } from "@resontech/keycloak/realm-definition";
import { realmDrift } from "../src/realm/decisions/realm-drift.ts";
import { readRealm } from "../src/realm/read-realm.ts";
import { RunningKeycloak } from "@resontech/house/running-keycloak";

t.setTimeout(600_000);
const keycloak = await RunningKeycloak.lease();
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
  readFileSync(join(import.meta.dirname, "..", "..", "..", "policies", "realm.json"), "utf8"),
  { origin: keycloak.address.origin, jwks: { dashboard: jwks, coordinator: jwks } },
);
// One that nobody lent has it from its start.
if ((await readRealm(keycloak.admin, want.realm)) !== null)
  await keycloak.admin.delete(`/${want.realm}`);
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

t.test("a client's flow is part of the realm: another one in its place is found", async (t) => {
  const { admin } = keycloak;
  const clients = `/${want.realm}/clients`;
  const [dashboard] = await admin.get<Record<string, unknown>[]>(
    `${clients}?clientId=resontech-dashboard`,
  );
  const flows = await admin.get<{ id: string; alias: string }[]>(
    `/${want.realm}/authentication/flows`,
  );
  const bind = (alias: string) =>
    admin.put(`${clients}/${String(dashboard?.["id"])}`, {
      ...dashboard,
      authenticationFlowBindingOverrides: {
        browser: flows.find((flow) => flow.alias === alias)?.id,
      },
    });
  await bind("resontech shell");
  t.match(await drift(), [
    { kind: "client", name: "resontech-dashboard", what: "browserFlow", want: "null" },
  ]);
  await applyRealm(admin, want);
  t.same(await drift(), []);
  await t.test("a flow that clients use is made again when it was changed", async (t) => {
    const [shell] = await admin.get<{ id: string; requirement: string }[]>(
      `/${want.realm}/authentication/flows/resontech%20shell/executions`,
    );
    await admin.put(`/${want.realm}/authentication/flows/resontech%20shell/executions`, {
      ...shell,
      requirement: "DISABLED",
    });
    t.match(await drift(), [{ kind: "flow", name: "resontech shell" }]);
    await applyRealm(admin, want);
    t.same(await drift(), []);
  });
});

t.test(
  "clients of service accounts are the coordinator's, and other strange ones are not",
  async (t) => {
    const clients = `/${want.realm}/clients`;
    for (const clientId of ["service-account-sa_1", "intruder"])
      await keycloak.admin.post(clients, { clientId, enabled: false });
    t.match(await drift(), [{ kind: "client", name: "intruder", what: "unknown" }]);
    await applyRealm(keycloak.admin, want);
    t.same(await drift(), []);
    const kept = await keycloak.admin.get<object[]>(`${clients}?clientId=service-account-sa_1`);
    t.equal(kept.length, 1);
  },
);

t.test("what a registered client may have is held to the definition", async (t) => {
  const { admin } = keycloak;
  const type = "org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy";
  const policies = await admin.get<{ id: string; providerId: string; subType: string }[]>(
    `/${want.realm}/components?type=${type}`,
  );
  const policy = policies.find(
    ({ providerId, subType }) =>
      providerId === "allowed-protocol-mappers" && subType === "authenticated",
  );
  await admin.delete(`/${want.realm}/components/${policy?.id}`);
  t.match(await drift(), [{ kind: "realm", what: "registrableMappers", have: "null" }]);
  await applyRealm(admin, want);
  t.same(await drift(), []);
});

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
