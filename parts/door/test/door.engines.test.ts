/** On the real HAProxy, with a server on each side of the door. */
import { once } from "node:events";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectH2, type ClientHttp2Session } from "node:http2";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import type { TLSSocket } from "node:tls";
import t from "tap";
import { makeTestCa } from "@resontech/house/test-ca";
import { type Answer, ask, exchange, openTls, readToEnd } from "./helper/ask.ts";
import {
  coordinatorAt,
  end,
  keycloakWith,
  lateBefore,
  type Seen,
  servingAt,
} from "./helper/back-ends.ts";
import { RunningDoor } from "./helper/running-door.ts";

const dir = t.testdir({ pki: {}, run: {} });
const certificates = await makeTestCa(join(dir, "pki"));
// Short: a socket's path may have 107 bytes.
const socket = `/tmp/rt-door-${process.pid}.sock`;
t.teardown(() => rmSync(socket, { force: true }));
const coordinator = await coordinatorAt(socket);
t.teardown(() => end(coordinator));
const keycloak = await keycloakWith(certificates);
t.teardown(() => end(keycloak.server));
const servingSocket = `/tmp/rt-door-${process.pid}-serving.sock`;
t.teardown(() => rmSync(servingSocket, { force: true }));
const serving = await servingAt(servingSocket);
t.teardown(() => end(serving));
const door = await RunningDoor.start(join(dir, "run"), certificates, {
  ...{ coordinatorSocket: socket, servingSocket },
  keycloak: { port: keycloak.port, caFile: certificates.caFile },
});
t.teardown(() => door[Symbol.asyncDispose]());
const at = { port: door.port, caFile: certificates.caFile };

const TOKEN = "/realms/resontech/protocol/openid-connect/token";
const seenBy = ({ body }: Answer): Seen => JSON.parse(body) as Seen;
const codeOf = ({ body }: Answer): string => (JSON.parse(body) as { code: string }).code;
/** One request written by hand; the answer's head and body as text. */
const raw = (head: string, headers: readonly string[] = [], body = "") =>
  exchange(at, [head, "host: localhost", "connection: close", ...headers, "", body].join("\r\n"));

t.test("TLS 1.2 and 1.3 are spoken, each with forward secrecy and an AEAD suite", async (t) => {
  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    const client = await openTls(at, { minVersion: version, maxVersion: version });
    t.equal(client.getProtocol(), version);
    t.match(client.getCipher().standardName, /^TLS_(ECDHE_ECDSA_WITH_)?\w+(GCM|POLY1305)/);
    client.destroy();
  }
});

t.test(
  "TLS 1.2 with a suite without AEAD or forward secrecy, and TLS 1.1, find no server",
  async (t) => {
    for (const ciphers of [
      "ECDHE-ECDSA-AES256-SHA384",
      "ECDHE-RSA-AES128-SHA256",
      "AES128-GCM-SHA256",
      "ECDHE-ECDSA-AES128-SHA",
    ])
      await t.rejects(openTls(at, { maxVersion: "TLSv1.2", ciphers }), ciphers);
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1" } as const;
    await t.rejects(openTls(at, { ...old, ciphers: "DEFAULT@SECLEVEL=0" }), "TLS 1.1");
  },
);

t.test("HTTP/1.1 and HTTP/2 both reach the coordinator, with bodies", async (t) => {
  const first = seenBy(
    await ask(at, "/api/tasks?a=1", { method: "POST", body: "x".repeat(9_000) }),
  );
  t.match(first, { server: "coordinator", method: "POST", url: "/api/tasks?a=1" });
  t.equal(first.bodyBytes, 9_000);
  const session = await h2();
  t.equal(session.alpnProtocol, "h2");
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      askH2(session, { ":path": `/api/tasks/${index}`, ":method": "PUT" }, "y".repeat(100_000)),
    ),
  );
  for (const [index, answer] of answers.entries()) {
    t.match(seenBy(answer), { url: `/api/tasks/${index}`, bodyBytes: 100_000 });
  }
  session.close();
});

t.test("what a replica answers is data, whatever it says that it is", async (t) => {
  const typed = async (type: string) =>
    await ask(at, "/inference/job-1/health", { headers: { "x-answer-type": type } });
  for (const type of ["application/json", "text/event-stream", "Application/JSON; charset=utf-8"])
    t.equal((await typed(type)).headers["content-type"], type);
  for (const type of [
    ...["text/html", "text/javascript", "image/svg+xml", "text/html, application/json"],
    ...["application/json, text/html", "application/json; charset=utf-8, text/html", ""],
  ]) {
    const { headers } = await typed(type);
    t.equal(headers["content-type"], "application/octet-stream", type);
    t.match(headers, {
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    });
  }
  t.notOk((await ask(at, "/api/tasks")).headers["content-security-policy"], "that of others stays");
});

t.test("a WebSocket passes both ways, over HTTP/1.1 and over HTTP/2", async (t) => {
  const client = await openWebSocket();
  client.write("over one");
  t.equal(String((await once(client, "data"))[0]), "over one");
  client.destroy();

  const session = await h2();
  const stream = session.request({
    ...{ ":method": "CONNECT", ":protocol": "websocket", ":path": "/api/live" },
    ...{ ":authority": "localhost", ":scheme": "https", "sec-websocket-version": "13" },
  });
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  t.equal(headers[":status"], 200);
  t.equal(headers["x-seen-peer"], "127.0.0.1");
  stream.write("over two");
  t.equal(String((await once(stream, "data"))[0]), "over two");
  const refused = session.request({
    ...{ ":method": "CONNECT", ":protocol": "websocket", ":path": "/realms/resontech/device" },
    ...{ ":authority": "localhost", ":scheme": "https", "sec-websocket-version": "13" },
  });
  t.match(await once(refused, "response"), [{ ":status": 400 }], "to Keycloak nothing but HTTP");
  const upgrading = (protocol: string) =>
    raw("GET /realms/resontech/device HTTP/1.1", [
      `upgrade: ${protocol}`,
      "connection: upgrade, close",
    ]);
  t.match(await upgrading("websocket"), /^HTTP\/1\.1 400 /);
  t.match(await upgrading("other"), /^HTTP\/1\.1 400 /);
  t.notMatch(await upgrading("h2c"), /h2c/, "HAProxy takes it away by itself");
  session.destroy();
});

t.test("who asks is what the door sees, whatever the client says", async (t) => {
  const lies = {
    forwarded: "for=6.6.6.6",
    via: "1.1 liar",
    "x-real-ip": "6.6.6.6",
    "x-forwarded-for": "6.6.6.6",
    "x-forwarded-proto": "http",
    "x-forwarded-host": "evil.example",
    "x-forwarded-prefix": "/evil",
    "x-original-url": "/admin",
    "x-rewrite-url": "/admin",
    "x-rt-peer": ["6.6.6.6", "7.7.7.7"],
    x_rt_peer: "6.6.6.6",
    "x-kept": "yes",
  };
  const { headers } = seenBy(await ask(at, "/api/keys", { headers: lies }));
  t.equal(headers["x-rt-peer"], "127.0.0.1");
  t.equal(headers["x-kept"], "yes");
  t.notMatch(JSON.stringify(headers), /6\.6\.6\.6|7\.7\.7\.7|evil|liar|admin/);
  const signIn = seenBy(await ask(at, "/realms/resontech/device", { headers: lies }));
  t.equal(signIn.server, "keycloak");
  t.notMatch(JSON.stringify(signIn.headers), /6\.6\.6\.6|7\.7\.7\.7|evil|liar|admin/);
  t.match(signIn.headers, {
    host: `localhost:${door.port}`,
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-proto": "https",
    "x-forwarded-host": `localhost:${door.port}`,
    "x-forwarded-port": String(door.port),
  });
  t.notHas(signIn.headers, "x-rt-peer");
  const absolute = await raw(`GET https://localhost/realms/resontech/device HTTP/1.1`);
  t.match(absolute, /"server":"keycloak"[\s\S]*"url":"\/realms\/resontech\/device"/);
});

t.test("sign-in paths alone reach Keycloak", async (t) => {
  const oidc = "/realms/resontech/protocol/openid-connect";
  const passes = [
    ...["auth?client_id=x&scope=openid", "auth/device", "token", "certs", "userinfo", "revoke"].map(
      (path) => `${oidc}/${path}`,
    ),
    ...[`${oidc}/logout`, `${oidc}/logout/logout-confirm`, `${oidc}/logout/backchannel-logout`],
    "/realms/resontech/.well-known/openid-configuration",
    "/realms/resontech/device",
    "/realms/resontech/device/status",
    "/realms/resontech/login-actions/authenticate?session_code=a%2Fb",
    "/realms/resontech/login-actions/required-action",
    "/realms/resontech/broker/hospital-ad/login",
    "/realms/resontech/broker/hospital_oidc/endpoint?code=x&state=y",
    "/realms/resontech/broker/saml/endpoint/descriptor",
    "/realms/resontech/broker/after-first-broker-login",
    "/resources/1a2b3/login/keycloak.v2/css/styles.css",
    "/resources/1a2b3/common/keycloak/vendor/patternfly-v5/patternfly.min.css",
  ];
  for (const path of passes)
    t.match(seenBy(await ask(at, path)), { server: "keycloak", url: path });
  const never = [
    ...["/realms/master", "/realms/master/protocol/openid-connect/token", "/admin", "/admin/"],
    ...["/admin/master/console/", "/admin/realms/resontech/users", "/metrics", "/health", "/"],
    ...["/health/ready", "/js/keycloak.js", "/welcome", "/realms/resontech", "/realms/resontech/"],
    ...["/realms/resontech/account", "/realms/resontech/clients-registrations/default"],
    ...["/realms/resontech/authz/protection/permission", "/realms/resontech/clients-managements"],
    ...[`${oidc}/registrations`, `${oidc}/token/introspect`, `${oidc}/ext/par/request`],
    ...["/realms/resontech/login-actions/registration", "/realms/resontech/broker/x/token"],
    ...["/realms/resontech/login-actions/reset-credentials", "/realms/resontech/broker/x/link"],
    ...["/realms/resontech/.well-known/uma2-configuration", "/realms/resontech2/device"],
    ...["/realms/Resontech/device", "/REALMS/resontech/device", "/x/realms/resontech/device"],
    ...["/resources/1a2b3/admin/keycloak.v2/x.js", "/resources/1a2b3/account/x/y.js"],
    ...[
      "/resources/resontech/login/en",
      `${oidc}/token/`,
      `${oidc}/token/x`,
      "/resources/1a2b3/login",
    ],
  ];
  for (const path of never)
    t.match(seenBy(await ask(at, path)), { server: "coordinator", url: path }, path);
});

t.test("an assertion of more than a minute never reaches Keycloak", async (t) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const posted = (claims: object, name = "client_assertion") =>
    ask(at, TOKEN, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `grant_type=client_credentials&${name}=${part({ alg: "ES256" })}.${part(claims)}.c2ln`,
    });
  const iat = 1_800_000_000;
  for (const claims of [{ iat, exp: iat + 60 }, { exp: iat + 60 }])
    t.equal((await posted(claims)).status, 200, JSON.stringify(claims));
  for (const [claims, said] of [
    [{ iat, exp: iat + 61 }, /60 seconds at most/],
    [{ iat, exp: iat + 86_400 }, /60 seconds at most/],
    [{ iat }, /when it ends/],
    [{ iat, exp: `${iat + 61}` }, /60 seconds at most/],
    [{ iat: "now", exp: iat }, /60 seconds at most/],
  ] as const)
    t.match(await posted(claims), { status: 401, body: said }, JSON.stringify(claims));
  t.equal((await posted({ iat, exp: iat + 86_400 }, "client%5Fassertion")).status, 401);
});

t.test("an address that two programs could read in two ways is refused", async (t) => {
  const tricks = [
    ...["/realms/resontech/../master", "/realms/resontech/device/..", "/realms/./resontech/device"],
    ...["/realms/resontech/%2e%2e/master/device", "/realms/resontech/%2E./master", "/%2e/x"],
    ...["//realms/resontech/device", "/realms//resontech/device", "/realms/resontech//device"],
    ...["/realms/resontech/device;/../../admin", "/realms/resontech/device;x=y", "/api;/keys"],
    ...["/realms%2fresontech%2fdevice", "/realms/resontech%2F..%2Fmaster", "/realms\\resontech"],
    ...["/realms/resontech/%5c..%5cadmin", "/realms/resontech/device%00", "/api/keys%0d%0a"],
    ...["/realms/resontech/%252e%252e/master", "/resources/1a2b3/login/../../../admin", "/.."],
    ...["/resources/1a2b3/login/%2e%2e/%2e%2e/admin", "/api/%3b", "/a/.", "/a/../b"],
  ];
  for (const path of tricks) {
    const text = await raw(`GET ${path} HTTP/1.1`);
    t.match(text, /^HTTP\/1\.1 404 [\s\S]*"code":"not_found"/, path);
  }
  for (const target of ["realms/resontech/device", "*"])
    t.match(await raw(`OPTIONS ${target} HTTP/1.1`), /^HTTP\/1\.1 400 [\s\S]*"malformed_request"/);
  t.match(await raw("CONNECT localhost:443 HTTP/1.1"), /^HTTP\/1\.1 400 /);
  t.match(await raw("GET /a b HTTP/1.1"), /^HTTP\/1\.1 400 /);
  const session = await h2();
  for (const path of ["/realms/resontech/../master", "//admin", "/realms/resontech/%2e%2e/x"])
    t.equal((await askH2(session, { ":path": path })).status, 404, path);
  session.close();
  t.match(seenBy(await ask(at, "/api/tasks/a%20b?x=..%2F;")), { url: "/api/tasks/a%20b?x=..%2F;" });
});

t.test("two readings of one request are refused", async (t) => {
  const chunked = "5\r\nhello\r\n0\r\n\r\n";
  const both = await raw(
    "POST /api/tasks HTTP/1.1",
    ["content-length: 3", "transfer-encoding: chunked"],
    chunked,
  );
  t.match(both, /^HTTP\/1\.1 200 [\s\S]*"bodyBytes":5/, "as RFC 9112 says");
  t.equal(both.match(/HTTP\/1\.1 /g)?.length, 1, "nothing is left for a second request");
  t.match(
    await raw("POST /api/tasks HTTP/1.1", ["content-length: 3", "content-length: 4"], "abcd"),
    /^HTTP\/1\.1 400/,
  );
  t.match(
    await raw("GET https://other.example/api/keys HTTP/1.1"),
    /^HTTP\/1\.1 400/,
    "an address of another host than the Host header says",
  );
  t.match(await raw("GET /api/keys HTTP/1.1", ["cookie: a=1", "cookie: b=2"]), /^HTTP\/1\.1 400/);
});

t.test("Keycloak never sees our session, the coordinator never Keycloak's", async (t) => {
  const cookieAt = async (path: string, cookie: string): Promise<string | undefined> =>
    seenBy(await ask(at, path, { headers: { cookie } })).headers["cookie"];
  const signIn = "/realms/resontech/device";
  const cases: [sent: string, toKeycloak: string | undefined, toCoordinator: string | undefined][] =
    [
      ["__Host-rt=s", undefined, "__Host-rt=s"],
      ["a=1; __Host-rt=s; b=2", "a=1; b=2", "a=1; __Host-rt=s; b=2"],
      ["__Host-rt=s; b=2", "b=2", "__Host-rt=s; b=2"],
      ["__Host-rt=s;__Host-rt=u; __Host-rt=v", undefined, "__Host-rt=s;__Host-rt=u; __Host-rt=v"],
      ["a=1;__Host-rt = s ;b=2", "a=1;b=2", "a=1;__Host-rt = s ;b=2"],
      ["__Host-rt", undefined, "__Host-rt"],
      ['a="x; __Host-rt=s; y"', 'a="x; y"', 'a="x; __Host-rt=s; y"'],
      [
        "__Host-rt-csrf=c; my__Host-rt=m",
        "__Host-rt-csrf=c; my__Host-rt=m",
        "__Host-rt-csrf=c; my__Host-rt=m",
      ],
      ["b=__Host-rt=s", "b=__Host-rt=s", "b=__Host-rt=s"],
      ["AUTH_SESSION_ID=k; a=1; KC_RESTART=r", "AUTH_SESSION_ID=k; a=1; KC_RESTART=r", "a=1"],
      [
        "KEYCLOAK_IDENTITY=i; KEYCLOAK_SESSION_LEGACY=s",
        "KEYCLOAK_IDENTITY=i; KEYCLOAK_SESSION_LEGACY=s",
        undefined,
      ],
      ["KC_AUTH_SESSION_HASH=h; __Host-rt=s", "KC_AUTH_SESSION_HASH=h", "__Host-rt=s"],
      [
        "KEYCLOAK_LOCALE=de; MY_KC_RESTART=x",
        "KEYCLOAK_LOCALE=de; MY_KC_RESTART=x",
        "MY_KC_RESTART=x",
      ],
    ];
  for (const [sent, toKeycloak, toCoordinator] of cases) {
    t.equal(await cookieAt(signIn, sent), toKeycloak, `to Keycloak: ${sent}`);
    t.equal(await cookieAt("/api/keys", sent), toCoordinator, `to the coordinator: ${sent}`);
  }
  t.notHas(seenBy(await ask(at, signIn)).headers, "cookie");
  // A browser may send each cookie in a header field of its own.
  const session = await h2();
  const crumbs = ["__Host-rt=s", "a=1", "AUTH_SESSION_ID=k"];
  const split = async (path: string) =>
    seenBy(await askH2(session, { ":path": path, cookie: crumbs })).headers["cookie"];
  t.equal(await split(signIn), "a=1; AUTH_SESSION_ID=k");
  t.equal(await split("/api/keys"), "__Host-rt=s; a=1");
  session.close();
});

t.test("sizes: headers, bodies and forms have an end", async (t) => {
  const long = (bytes: number) => ({ headers: { "x-long": "a".repeat(bytes) } });
  t.equal((await ask(at, "/api/keys", long(15_000))).status, 200);
  for (const bytes of [17_000, 50_000]) {
    const answer = await raw("GET /api/keys HTTP/1.1", [`x-long: ${"a".repeat(bytes)}`]);
    t.match(answer, /^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large"/, `${bytes}`);
  }
  t.match(
    await raw("GET /api/keys HTTP/1.1", [`x-long: ${"a".repeat(80_000)}`]),
    /^HTTP\/1\.1 400 /,
  );
  t.match(
    await raw(
      "GET /api/keys HTTP/1.1",
      Array.from({ length: 300 }, (_, n) => `x-${n}: 1`),
    ),
    /^HTTP\/1\.1 400 /,
  );
  const tooLong = await raw("POST /api/tasks HTTP/1.1", ["content-length: 1048577"]);
  t.match(tooLong, /^HTTP\/1\.1 413 [\s\S]*"code":"body_too_large"/);
  const form = (bytes: number) => ask(at, TOKEN, { method: "POST", body: "f".repeat(bytes) });
  t.match(seenBy(await form(40_000)), { server: "keycloak", bodyBytes: 40_000 });
  t.equal(codeOf(await form(41_000)), "body_too_large");
  const chunked = await ask(at, TOKEN, {
    ...{ method: "POST", headers: { "transfer-encoding": "chunked" }, body: "x" },
  });
  t.equal(chunked.status, 411);
  t.equal(codeOf(chunked), "length_required");
  t.match(await ask(at, TOKEN, { method: "DELETE" }), { status: 405 });
});

t.test(
  "who was refused before the body was taken is answered on the same connection",
  async (t) => {
    const body = Buffer.alloc(900_000, "b");
    const head = `POST /refused HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`;
    const whole = Buffer.concat([Buffer.from(head), body]);
    const [rounds, batches] = [8, 5];
    /** What one connection is told, of a refused body and a question in turn. */
    const statuses = async (): Promise<string[]> => {
      const client = await openTls(at);
      const said: string[] = [];
      let text = "";
      client.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
      for (let round = 0; round < 2 * rounds; round += 1) {
        text = "";
        client.write(
          round % 2 === 0 ? whole : "HEAD /api/keys HTTP/1.1\r\nhost: localhost\r\n\r\n",
        );
        while (!text.includes("\r\n\r\n")) await once(client, "data");
        said.push(text.slice(9, 12));
      }
      client.destroy();
      return said;
    };
    const each = String(Array.from({ length: 2 * rounds }, (_, n) => (n % 2 ? "200" : "403")));
    // One that is left unread waits for half a minute, and some of so many were. Few at a time: on a busy machine all of them together take as long.
    for (let batch = 0; batch < batches; batch += 1) {
      const late = ask(at, "/slow/25000").then(() => "a request of 25 s", String);
      const told = await Promise.race([Promise.all(Array.from({ length: 8 }, statuses)), late]);
      t.same(typeof told === "string" ? [told] : [...new Set(told.map(String))], [each]);
    }
  },
);

t.test("slow headers and slow bodies are ended, and hold nobody up", async (t) => {
  let ended = 0;
  const trickle = async (head: string): Promise<string> => {
    const client = await openTls(at);
    client.write(head);
    const drip = setInterval(() => client.write("a"), 500);
    const text = await readToEnd(client);
    clearInterval(drip);
    ended += 1;
    return text;
  };
  const slow = [
    trickle("GET /api/keys HTTP/1.1\r\nhost: localhost\r\nx-slow: "),
    trickle("POST /api/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9000\r\n\r\n"),
    trickle(`POST ${TOKEN} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9000\r\n\r\n`),
  ];
  const quick = await ask(at, "/api/keys");
  t.equal(quick.status, 200);
  t.equal(ended, 0, "it is answered while all three are still listened to");
  for (const [index, text] of (await Promise.all(slow)).entries()) {
    t.match(text, /^HTTP\/1\.1 408 /);
    // Before the headers are whole HAProxy answers in a form of its own.
    if (index > 0) t.match(text, /"code":"request_timeout"/);
  }
});

t.test("one address can't take every connection", async (t) => {
  // A quarter of the 400 that the helper allows.
  const clients = await Promise.allSettled(Array.from({ length: 130 }, () => openTls(at)));
  const open = clients.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  t.ok(open.length >= 90 && open.length <= 101, `${open.length} of 130`);
  for (const client of open) client.destroy();
  for (const deadline = Date.now() + 120_000; ; await sleep(50)) {
    const answer = await ask(at, "/api/keys").catch(() => null);
    if (answer?.status === 200 || Date.now() > deadline) {
      t.equal(answer?.status, 200, "and it may come again when it has ended some");
      break;
    }
  }
});

t.test(
  "an answer that the coordinator never gave is told from one that it never began",
  async (t) => {
    const answer = await ask(at, "/die", { method: "POST", body: "x" });
    t.equal(answer.status, 502);
    t.equal(codeOf(answer), "answer_lost");
  },
);

t.test("a reload under load drops no request, and shows the new certificate", async (t) => {
  const before = await fingerprint();
  const other = await makeTestCa(join(t.testdir({ pki: {} }), "pki"));
  const bothFile = join(t.testdirName, "both.pem");
  writeFileSync(bothFile, [at.caFile, other.caFile].map((file) => readFileSync(file)).join(""));
  const trusting = { ...at, caFile: bothFile };
  const over = new AbortController();
  let asked = 0;
  const failures: unknown[] = [];
  const load = Array.from({ length: 8 }, async (_, index) => {
    while (!over.signal.aborted) {
      asked += 1;
      await ask(trusting, `/slow/${(index % 4) * 5}`).then(
        ({ status }) => status !== 200 && failures.push(status),
        (error: unknown) => failures.push(error),
      );
    }
  });
  const session = await h2();
  const long = askH2(session, { ":path": "/slow/4000" });
  const client = await openWebSocket();
  copyFileSync(other.certFile, door.certFile);
  copyFileSync(other.keyFile, door.keyFile);
  for (let reloads = 0; reloads < 3; reloads++) {
    await door.reload();
    const upTo = asked + 30;
    const hasGoneOn = () => asked >= upTo;
    while (!hasGoneOn()) await sleep(5);
  }
  over.abort();
  await Promise.all(load);
  t.same(failures, []);
  t.ok(asked > 20, `${asked} requests`);
  t.ok(await shows((shown) => shown !== before));
  t.equal((await long).status, 200, "a request that was asked before is answered after");
  client.write("still here");
  t.equal(String((await once(client, "data"))[0]), "still here", "a WebSocket lives on");
  client.destroy();
  session.close();
  copyFileSync(certificates.certFile, door.certFile);
  copyFileSync(certificates.keyFile, door.keyFile);
  await door.reload();
  t.ok(await shows((shown) => shown === before));
});

t.test("a certificate without its key changes nothing", async (t) => {
  const before = await fingerprint();
  copyFileSync((await makeTestCa(join(t.testdir({ pki: {} }), "pki"))).certFile, door.certFile);
  await t.rejects(door.reload(2_000), /did not reload/);
  t.equal(await fingerprint(), before);
  t.equal((await ask(at, "/api/keys")).status, 200);
  copyFileSync(certificates.certFile, door.certFile);
  await door.reload();
});

t.test("a part that is away is told of in its own form, and is found again at once", async (t) => {
  await end(coordinator);
  const [first] = await Promise.all(
    Array.from({ length: 20 }, () => ask(at, "/api/tasks", { method: "POST", body: "{}" })),
  );
  t.match(first, { status: 503, headers: { "retry-after": "2", "content-type": /json/ } });
  t.same(JSON.parse(first?.body ?? ""), {
    code: "restarting",
    message: "the coordinator does not run at this moment",
    hint: ERROR_CATALOGUE.restarting.hint,
  });
  const own = await ask(at, "/healthz/door");
  t.equal(own.status, 200, "the door itself is well");
  for (const { headers } of [own, first ?? own])
    t.equal(headers["strict-transport-security"], "max-age=31536000", "a browser stays with TLS");
  t.notMatch(door.output, / 503 /, "and its log does not grow with every request");
  t.match(door.output, / 127\.0\.0\.1 502 POST \/die /, "as it does with what is no planned stop");
  t.equal(seenBy(await ask(at, TOKEN)).server, "keycloak", "signing in does not wait for it");
  const again = await coordinatorAt(socket);
  t.equal((await ask(at, "/api/keys")).status, 200);
  await end(keycloak.server);
  const page = await ask(at, TOKEN);
  t.match(page, { status: 503, headers: { "retry-after": "10", "content-type": /^text\/html/ } });
  t.match(page.body, /Sign-in is not available/);
  t.equal((await ask(at, "/api/keys")).status, 200);
  await end(again);
});

t.test("Keycloak with a certificate of somebody else's is not spoken to", async (t) => {
  const other = t.testdir({});
  const foreign = await keycloakWith(await makeTestCa(other), certificates.caFile);
  t.teardown(() => end(foreign.server));
  const own = t.testdir({});
  await using second = await RunningDoor.start(join(own, "run"), certificates, {
    coordinatorSocket: socket,
    keycloak: { port: foreign.port, caFile: certificates.caFile },
  });
  t.equal((await ask({ ...at, port: second.port }, TOKEN)).status, 503);
});

t.test("a Keycloak that is late with its handshake, as a busy one is, is waited for", async (t) => {
  // Longer than the 3 s that a part has to take a connection.
  const own = await keycloakWith(certificates);
  t.teardown(() => end(own.server));
  const late = await lateBefore(own.port, 4_000);
  t.teardown(() => late.server.close());
  await using second = await RunningDoor.start(join(t.testdir({}), "run"), certificates, {
    coordinatorSocket: socket,
    keycloak: { port: late.port, caFile: certificates.caFile },
  });
  const answer = await ask({ ...at, port: second.port }, TOKEN, {
    ...{ method: "POST", body: "a=b", headers: { "content-length": "3" } },
  });
  t.equal(answer.status, 200);
  t.match(seenBy(answer), { server: "keycloak", method: "POST", bodyBytes: 3 });
});

t.test("a worker that is killed ends the whole, to be started afresh", async (t) => {
  const own = t.testdir({});
  await using second = await RunningDoor.start(join(own, "run"), certificates, {
    coordinatorSocket: socket,
  });
  process.kill(Number(/New worker \((\d+)\) forked/.exec(second.output)?.[1]), "SIGKILL");
  for (const end = Date.now() + 120_000; second.isRunning && Date.now() < end; ) await sleep(20);
  t.notOk(second.isRunning);
});

t.test("killed, it leaves nothing that listens", async (t) => {
  process.kill(door.pid, "SIGKILL");
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(20)) {
    const client = await openTls(at).catch(() => null);
    if (client === null) break;
    client.destroy();
  }
  await t.rejects(openTls(at));
});

/** The answer to its handshake has been read, and was one that the coordinator saw the right address with. */
async function openWebSocket(): Promise<TLSSocket> {
  const client = await openTls(at);
  const headers = [
    ...["host: localhost", "upgrade: websocket", "connection: upgrade", "x-rt-peer: 6.6.6.6"],
    ...["sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="],
  ];
  client.write(["GET /api/live HTTP/1.1", ...headers, "", ""].join("\r\n"));
  const [head] = (await once(client, "data")) as [Buffer];
  t.match(head.toString(), /^HTTP\/1\.1 101 [\s\S]*x-seen-peer: 127\.0\.0\.1\r\n/);
  return client;
}

async function h2(): Promise<ClientHttp2Session> {
  const session = connectH2(`https://localhost:${door.port}`, {
    ca: readFileSync(at.caFile),
  });
  await once(session, "connect");
  return session;
}

async function askH2(
  session: ClientHttp2Session,
  headers: Record<string, string | string[]>,
  body = "",
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === "" });
  if (body !== "") stream.end(body);
  const [head] = (await once(stream, "response")) as [Record<string, string>];
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk as string;
  return { status: Number(head[":status"]), headers: head, body: text };
}

/** The old worker may still take a connection while it learns of the new one. */
async function shows(expected: (fingerprint: string) => boolean): Promise<boolean> {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(50))
    if (expected(await fingerprint())) return true;
  return false;
}

async function fingerprint(): Promise<string> {
  const client = await openTls(at, { rejectUnauthorized: false });
  const { fingerprint256 } = client.getPeerCertificate();
  client.destroy();
  return fingerprint256;
}
