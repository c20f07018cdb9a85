/** A Keycloak that starts, fails or says nonsense has refused nobody: good tokens and sessions are no worse for it. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { KeycloakUnreachableError } from "@resontech/keycloak/address";
import { KeycloakRefusedError } from "@resontech/keycloak/admin-api";
import Fastify from "fastify";
import { exportJWK, SignJWT } from "jose";
import t from "tap";
import { TestPki } from "@resontech/house/test-pki";
import { ApiError } from "../../src/api-error.ts";
import { API_AUDIENCE } from "../../src/identity/api-audience.ts";
import { asApiError, errorReplies } from "../../src/http/error-replies.ts";
import {
  CLI_CLIENT,
  OpenIdProvider,
  SessionGone,
  SignInRefused,
} from "../../src/identity/sign-in/open-id-provider.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEYS = JSON.stringify({
  keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256", use: "sig" }],
});

t.test("what Keycloak has not judged is not refused", async (t) => {
  const pki = await TestPki.make(t.testdir(), "127.0.0.1");
  let [status, body] = [200, KEYS];
  const server = createServer(
    { cert: readFileSync(pki.serverCertFile), key: readFileSync(pki.serverKeyFile) },
    (_, answer) => {
      answer.writeHead(status, { "content-type": "application/json", connection: "close" });
      answer.end(body);
    },
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  const open = async () =>
    await OpenIdProvider.open({
      address: {
        ...{ port: (server.address() as AddressInfo).port, origin, caPem: pki.rootPem },
        client: { certFile: pki.serverCertFile, keyFile: pki.serverKeyFile },
      },
      realm: "r",
      clientKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }),
    });
  const token = await new SignJWT({ azp: CLI_CLIENT, sid: "s", auth_time: 1, acr: "1" })
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: "k" })
    .setIssuer(`${origin}/realms/r`)
    .setAudience(API_AUDIENCE)
    .setSubject("u")
    .setJti("j")
    .setIssuedAt()
    .setExpirationTime("1m")
    .sign(privateKey);
  const kept = { refresh: "r", id: "i" };
  const code = async (ask: Promise<unknown>) =>
    await ask.then(
      () => "done",
      (error: unknown) =>
        error instanceof SignInRefused || error instanceof SessionGone
          ? error.name
          : asApiError(error)?.code,
    );
  const finish = async (query: string) =>
    await code(
      (await open()).finish({ state: "s", nonce: "n", verifier: "v".repeat(43), acr: "1" }, query),
    );
  const callback = `state=s&code=c&iss=${encodeURIComponent(`${origin}/realms/r`)}`;

  for (const [what, ...said] of [
    ["its database is away", 500, '{"error":"unknown_error"}'],
    ["it starts", 503, "<html>"],
    ["it has no realm yet", 404, '{"error":"Realm does not exist"}'],
    ["it says no keys", 200, "<html>"],
    ["it says another thing", 200, "[]"],
  ] as const) {
    [status, body] = said;
    // Each time anew: keys that were read once are kept.
    t.equal(await code((await open()).readAccessToken(token)), "identity_unavailable", what);
    if (status < 500) continue;
    t.equal(await code((await open()).refresh(kept)), "identity_unavailable", `${what}: session`);
    t.equal(await finish(callback), "identity_unavailable", `${what}: sign-in`);
  }
  for (const word of ["temporarily_unavailable", "server_error"])
    t.equal(await finish(callback.replace("code=c", `error=${word}`)), "identity_unavailable");

  [status, body] = [200, KEYS];
  t.equal(await code((await open()).readAccessToken(token)), "done");
  t.equal(await code((await open()).readAccessToken(`${token}x`)), "SignInRefused");
  [status, body] = [400, '{"error":"invalid_grant"}'];
  t.equal(await code((await open()).refresh(kept)), "SessionGone", "that it has judged");
  t.equal(await finish(callback), "SignInRefused");
  t.equal(await finish(callback.replace("code=c", "error=access_denied")), "SignInRefused");
});

t.test("a failure inside Keycloak is told as its absence, a refusal is not", async (t) => {
  const of = (refused: number) =>
    asApiError(new KeycloakRefusedError("GET", "/users", refused, ""))?.code;
  t.equal(of(500), "identity_unavailable");
  t.equal(of(503), "identity_unavailable");
  t.equal(of(403), undefined);
});

t.test("what can't be known now is answered with when to ask again", async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(errorReplies);
  app.get("/away", () => Promise.reject(new KeycloakUnreachableError("away")));
  app.get("/refused", () => Promise.reject(new ApiError("invalid_token", "no")));
  const away = await app.inject({ url: "/away" });
  t.equal(away.statusCode, 503);
  t.equal(away.headers["retry-after"], "5");
  t.notOk("retry-after" in (await app.inject({ url: "/refused" })).headers);
});
