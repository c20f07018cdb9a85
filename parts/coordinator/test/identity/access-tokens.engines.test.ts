/** What a token must be: each forged one differs from a good one in one thing. The keys are of this test, as no real Keycloak signs such tokens; with a real one: attacks.engines.test.ts. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { SignJWT, type JWTPayload } from "jose";
import t from "tap";
import { OpenIdProvider, SignInRefused } from "../../src/identity/sign-in/open-id-provider.ts";
import { makeTestCa } from "@resontech/house/test-ca";

const ca = await makeTestCa(t.testdir());
const [realmKey, otherKey, clientKey] = [newKey(), newKey(), newKey()];
const jwk = {
  ...realmKey.publicKey.export({ format: "jwk" }),
  kid: "realm",
  alg: "ES256",
  use: "sig",
};
const server = createServer(
  { cert: readFileSync(ca.certFile), key: readFileSync(ca.keyFile) },
  (_request, response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: [jwk] })),
).listen(0, "127.0.0.1");
await once(server, "listening");
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const origin = `https://localhost:${port}`;
const provider = await OpenIdProvider.open({
  address: { port, origin, caPem: readFileSync(ca.caFile, "utf8"), client: ca },
  realm: "resontech",
  clientKeyPem: clientKey.privateKey.export({ type: "pkcs8", format: "pem" }),
});

const now = Math.floor(Date.now() / 1000);
const GOOD: JWTPayload = {
  ...{ iss: `${origin}/realms/resontech`, aud: "resontech-api", azp: "resontech-cli" },
  ...{
    sub: "subject",
    sid: "session",
    jti: "token",
    acr: "1",
    iat: now,
    exp: now + 300,
    auth_time: now,
  },
  roles: ["viewer"],
};
const HEADER = { alg: "ES256", typ: "at+jwt", kid: "realm" };

async function token(
  change: JWTPayload,
  {
    header = {},
    key = realmKey.privateKey,
  }: { header?: object; key?: KeyObject | Uint8Array } = {},
): Promise<string> {
  const claims = Object.fromEntries(
    Object.entries({ ...GOOD, ...change }).filter(([, value]) => value !== undefined),
  );
  return await new SignJWT(claims).setProtectedHeader({ ...HEADER, ...header }).sign(key);
}
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

const FORGED: Record<string, string> = {
  "another audience": await token({ aud: "resontech-dashboard" }),
  "another issuer": await token({ iss: `${origin}/realms/master` }),
  "another client": await token({ azp: "resontech-dashboard" }),
  "no client": await token({ azp: undefined }),
  "no session": await token({ sid: undefined }),
  "no id": await token({ jti: undefined }),
  "no moment of the sign-in": await token({ auth_time: undefined }),
  "a person's session by a service account": await token({ azp: "service-account-sa_1" }),
  "a client whose name only ends like a service account's": await token({
    ...{ azp: "my-service-account-sa_1", sid: undefined },
  }),
  "no end": await token({ exp: undefined }),
  expired: await token({ iat: now - 600, exp: now - 300 }),
  "not valid yet": await token({ nbf: now + 120 }),
  "from the future": await token({ iat: now + 120, exp: now + 400 }),
  "good for a day": await token({ iat: now - 3_600, exp: now + 86_400 }),
  "an identity token": await token({}, { header: { typ: "JWT" } }),
  "a log-out token": await token({}, { header: { typ: "logout+jwt" } }),
  "the key of another realm": await token({}, { key: otherKey.privateKey }),
  "a key that is named and unknown": await token(
    {},
    { key: otherKey.privateKey, header: { kid: "other" } },
  ),
  "signed with the public key as a password": await token(
    {},
    {
      header: { alg: "HS256" },
      key: Buffer.from(realmKey.publicKey.export({ type: "spki", format: "pem" })),
    },
  ),
  "no signature": `${part({ ...HEADER, alg: "none" })}.${part(GOOD)}.`,
  "a signature that is cut off": (await token({})).slice(0, -8),
  "claims of another": [
    (await token({})).split(".")[0],
    part({ ...GOOD, sub: "somebody else" }),
    (await token({})).split(".")[2],
  ].join("."),
  "a key inside the token": await token(
    {},
    {
      key: otherKey.privateKey,
      header: { jwk: otherKey.publicKey.export({ format: "jwk" }) },
    },
  ),
};

t.test("a good token is read", async (t) => {
  t.match(await provider.readAccessToken(await token({})), {
    ...{ kind: "person", subject: "subject", sid: "session", acr: "1", roles: ["viewer"] },
    authenticatedAt: now * 1000,
  });
});

t.test("a token of a service account names its client, and is of no session", async (t) => {
  const good = { azp: "service-account-sa_1", sid: undefined, auth_time: undefined };
  t.same(await provider.readAccessToken(await token(good)), {
    ...{ kind: "client", clientId: "service-account-sa_1", subject: "subject", tokenId: "token" },
  });
});

t.test("every forged token is refused", async (t) => {
  for (const [what, forged] of Object.entries(FORGED)) {
    const refused = await provider.readAccessToken(forged).then(
      () => null,
      (error: unknown) => error,
    );
    t.ok(refused instanceof SignInRefused, what);
  }
});

t.test("a log-out token ends sessions only where all of it is one", async (t) => {
  const event = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const good = { aud: "resontech-dashboard", jti: "1", events: event };
  const header = { typ: "logout+jwt" };
  t.same(await provider.readLogoutToken(await token(good, { header })), { sid: "session" });
  t.same(await provider.readLogoutToken(await token({ ...good, sid: undefined }, { header })), {
    subject: "subject",
  });
  const wrong: Record<string, Promise<string>> = {
    "an access token": token({}),
    "no event": token({ ...good, events: {} }, { header }),
    "a nonce": token({ ...good, nonce: "n" }, { header }),
    "too old": token({ ...good, iat: now - 600 }, { header }),
    "for somebody else": token({ ...good, aud: "account" }, { header }),
    "another key": token(good, { header, key: otherKey.privateKey }),
  };
  for (const [what, forged] of Object.entries(wrong)) {
    const refused = await provider.readLogoutToken(await forged).then(
      () => null,
      (error: unknown) => error,
    );
    t.ok(refused instanceof SignInRefused, what);
  }
});

function newKey() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}
