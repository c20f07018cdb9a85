/**
 * A customer's own application behind `keycloak-connect` works with our realm where its client signs with RS256 and its audience check is on.
 * What the package gets wrong is pinned here: why our own sign-in does without it, decision 0003.
 */
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { globalAgent } from "node:https";
import { connect, createServer } from "node:net";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import KeycloakConnect from "keycloak-connect";
import t from "tap";
import { askKeycloak } from "@resontech/keycloak/address";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import { realmDefinition } from "@resontech/keycloak/realm-definition";
import { RunningKeycloak } from "@resontech/house/running-keycloak";

t.setTimeout(600_000);
const keycloak = await RunningKeycloak.lease();
t.teardown(() => keycloak[Symbol.asyncDispose]());
// Nothing listens where a leased one is called by: on the appliance the front door does.
const origin = createServer((socket) => {
  const there = connect(keycloak.address.port, "127.0.0.1");
  for (const each of [socket, there])
    each.on("error", () => {
      socket.destroy();
      there.destroy();
    });
  socket.pipe(there).pipe(socket);
});
await once(origin.listen(Number(new URL(keycloak.address.origin).port), "127.0.0.1"), "listening");
t.teardown(() => origin.close());
// The package asks for Keycloak's keys by itself, and knows no certificate of its own.
Object.assign(globalAgent.options, {
  ca: keycloak.address.caPem,
  cert: readFileSync(keycloak.certFile),
  key: readFileSync(keycloak.keyFile),
});
const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwks = JSON.stringify({ keys: [publicKey.export({ format: "jwk" })] });
await applyRealm(
  keycloak.admin,
  realmDefinition(
    readFileSync(join(import.meta.dirname, "..", "..", "..", "policies", "realm.json"), "utf8"),
    { origin: keycloak.address.origin, jwks: { dashboard: jwks, coordinator: jwks } },
  ),
);
await keycloak.admin.renew();
await keycloak.admin.post("/resontech/users", {
  ...{ username: "anna", enabled: true },
  credentials: [{ type: "password", value: "a-long-enough-password", temporary: false }],
});

/** A token that the customer's front end gets for its application. */
async function tokenFor(client: string, algorithm: string, audience: string): Promise<string> {
  await keycloak.admin.post("/resontech/clients", {
    ...{ clientId: client, enabled: true, publicClient: true, directAccessGrantsEnabled: true },
    attributes: { "access.token.signed.response.alg": algorithm },
    protocolMappers: [
      {
        ...{ name: "audience", protocol: "openid-connect" },
        protocolMapper: "oidc-audience-mapper",
        config: { "included.custom.audience": audience, "access.token.claim": "true" },
      },
    ],
  });
  const { text } = await askKeycloak(
    keycloak.address,
    "/realms/resontech/protocol/openid-connect/token",
    {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        ...{ grant_type: "password", client_id: client },
        ...{ username: "anna", password: "a-long-enough-password" },
      }).toString(),
    },
  );
  return (JSON.parse(text) as { access_token: string }).access_token;
}

/** Whether an application of the name `hospital-app` takes the token. */
async function takes(token: string, checksAudience: boolean): Promise<boolean> {
  const app = new KeycloakConnect(
    {},
    {
      realm: "resontech",
      "auth-server-url": keycloak.address.origin,
      "ssl-required": "all",
      resource: "hospital-app",
      "bearer-only": true,
      "confidential-port": 0,
      ...(checksAudience ? { "verify-token-audience": true } : {}),
    },
  );
  return await app.grantManager.createGrant(JSON.stringify({ access_token: token })).then(
    () => true,
    () => false,
  );
}

const good = await tokenFor("front-end", "RS256", "hospital-app");
const others = await tokenFor("other-front-end", "RS256", "other-app");
const ofOurKind = await tokenFor("es-front-end", "ES256", "hospital-app");

t.test(
  "a token for the application is taken, and another's is refused, with the audience check on",
  async (t) => {
    t.equal(await takes(good, true), true);
    t.equal(await takes(others, true), false);
    t.equal(await takes(`${good.slice(0, -6)}AAAAAA`, true), false, "another signature");
  },
);

t.test("without that switch another application's token is taken", async (t) => {
  t.equal(await takes(others, false), true);
});

t.test("a token with ES256, as our own clients have, is refused", async (t) => {
  t.equal(await takes(ofOurKind, true), false);
});
