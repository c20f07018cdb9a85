/** What an attacker tries on a signed-in browser and on the way there, through the real front door and a real Keycloak. Each try is refused. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { askKeycloak } from "@resontech/keycloak/address";
import t from "tap";
import { locationOf, PersonBrowser } from "../helper/person-browser.ts";
import { SignInHouse } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { origin } = house;
const anna = await house.addAccount("anna");
const mallory = await house.addAccount("mallory");

const refusals = () =>
  house.api.audit.drafts.flatMap(({ type, detail }) =>
    type === "auth.session.refused" ? [(detail as { reason: string }).reason] : [],
  );
const failures = () =>
  house.api.audit.drafts.flatMap(({ type, detail }) =>
    type === "auth.failure" ? [(detail as { reason: string }).reason] : [],
  );

/** The way back from Keycloak, not taken yet. */
async function wayBack(browser: PersonBrowser, { username, password } = anna): Promise<string> {
  const page = await browser.ask(`${origin}/auth/sign-in`);
  return locationOf(await browser.submit(page, { username, password }));
}
async function signedIn(account = anna): Promise<PersonBrowser> {
  const browser = new PersonBrowser(house.caFile);
  await browser.ask(await wayBack(browser, account));
  if (!browser.cookies.has("__Host-rt")) throw new Error("not signed in");
  return browser;
}
async function csrfOf(browser: PersonBrowser): Promise<string> {
  return (JSON.parse((await browser.ask(`${origin}/api/session`)).body) as { csrfToken: string })
    .csrfToken;
}

t.test("a good sign-in works, so that what follows is refused for its own fault", async (t) => {
  const browser = await signedIn();
  const me = await browser.ask(`${origin}/api/me`);
  t.match(JSON.parse(me.body), { user: { username: "anna" } });
});

t.test(
  "a program of the host without a certificate of the appliance gets no answer from Keycloak",
  async (t) => {
    const { address, managementPort } = house.keycloak;
    for (const [port, path] of [
      [address.port, "/realms/master/.well-known/openid-configuration"],
      [address.port, "/admin/master/console/"],
      [managementPort, "/health/ready"],
    ] as const) {
      const own = await askKeycloak({ ...address, port }, path, {
        ...{ method: "GET", headers: {}, body: null },
      });
      t.equal(own.status, 200, `${path} with a certificate`);
      await t.rejects(getWithoutCertificate(port, path, address.caPem), {
        code: /TLS|ECONN|EPROTO/,
      });
    }
  },
);

/** What `curl` of any user of the host would be answered: the status. */
async function getWithoutCertificate(port: number, path: string, ca: string): Promise<number> {
  const asked = request({
    host: "127.0.0.1",
    port,
    path,
    ca,
    servername: "localhost",
    agent: false,
  });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

t.test("log-in CSRF: another browser can't finish a sign-in that it did not begin", async (t) => {
  const attacker = new PersonBrowser(house.caFile);
  const url = await wayBack(attacker, mallory);
  const victim = new PersonBrowser(house.caFile);
  const answer = await victim.ask(url);
  t.equal(answer.status, 403);
  t.notOk(victim.cookies.has("__Host-rt"));
  t.equal(refusals().at(-1), "state_missing");
});

t.test("a state, an issuer or a code that is not the own one is refused", async (t) => {
  for (const [change, name] of [
    ["state", "state_missing"],
    ["iss", "invalid_answer"],
    ["code", "invalid_grant"],
  ] as const) {
    const browser = new PersonBrowser(house.caFile);
    const url = new URL(await wayBack(browser));
    const value = url.searchParams.get(change) ?? "";
    url.searchParams.set(change, `${value.slice(0, -1)}${value.endsWith("A") ? "B" : "A"}`);
    t.equal((await browser.ask(url.href)).status, 403, change);
    t.notOk(browser.cookies.has("__Host-rt"), change);
    t.comment(`${change}: ${refusals().at(-1)}, ${name}`);
  }
});

t.test("a code is good once; who comes with it again gets nothing", async (t) => {
  const browser = new PersonBrowser(house.caFile);
  const url = await wayBack(browser);
  const before = new Map(browser.cookies);
  await browser.ask(url);
  const replay = new PersonBrowser(house.caFile);
  for (const [name, value] of before) replay.cookies.set(name, value);
  t.equal((await replay.ask(url)).status, 403);
  t.equal(refusals().at(-1), "invalid_grant");
});

t.test("a pending sign-in can't be made up, nor one of another use", async (t) => {
  const browser = new PersonBrowser(house.caFile);
  const url = await wayBack(browser);
  for (const [name, value] of browser.cookies)
    if (name.startsWith("__Host-rt-in-")) browser.cookies.set(name, `${value.slice(0, -4)}AAAA`);
  t.equal((await browser.ask(url)).status, 403);
  t.equal(refusals().at(-1), "state_forged");
});

t.test("CSRF: the cookie alone changes nothing", async (t) => {
  const browser = await signedIn();
  const token = await csrfOf(browser);
  const post = async (headers: Record<string, string>) =>
    (await browser.ask(`${origin}/auth/sign-out`, { method: "POST", headers })).status;
  t.equal(await post({}), 403, "no token");
  t.equal(await post({ "x-rt-csrf": token }), 403, "no Sec-Fetch-Site");
  t.equal(await post({ "x-rt-csrf": token, "sec-fetch-site": "cross-site" }), 403);
  t.equal(await post({ "x-rt-csrf": token, "sec-fetch-site": "same-site" }), 403, "a sibling host");
  t.equal(
    await post({ "x-rt-csrf": await csrfOf(await signedIn()), "sec-fetch-site": "same-origin" }),
    403,
    "another session's token",
  );
  t.ok(failures().includes("csrf_refused"));
  t.equal(await post({ "x-rt-csrf": token, "sec-fetch-site": "same-origin" }), 200);
});

t.test(
  "session fixation: the cookie is new at each sign-in, and the old one is void",
  async (t) => {
    const browser = new PersonBrowser(house.caFile);
    browser.cookies.set("__Host-rt", "chosen-by-the-attacker-0000000000000000000");
    await browser.ask(await wayBack(browser));
    const first = browser.cookies.get("__Host-rt") ?? "";
    t.not(first, "chosen-by-the-attacker-0000000000000000000");
    await browser.ask(`${origin}/auth/sign-in`);
    t.not(browser.cookies.get("__Host-rt"), first);
    const old = new PersonBrowser(house.caFile);
    old.cookies.set("__Host-rt", first);
    t.equal((await old.ask(`${origin}/api/session`)).status, 401);
  },
);

t.test("open redirect: a sign-in ends at a page of this host", async (t) => {
  for (const to of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/dashboard/../../evil",
    "/dashboard//evil.example",
    "/dashboard@evil.example",
    "javascript:alert(1)",
    "/auth/sign-in",
  ]) {
    const browser = new PersonBrowser(house.caFile);
    const page = await browser.ask(`${origin}/auth/sign-in?return=${encodeURIComponent(to)}`);
    const back = await browser.submit(page, anna);
    const landed = await browser.ask(locationOf(back), { follow: false });
    t.equal(landed.headers.location, "/dashboard", to);
  }
  const redirect = new URL(`${origin}/realms/resontech/protocol/openid-connect/auth`);
  redirect.search = new URLSearchParams({
    ...{ client_id: "resontech-dashboard", response_type: "code", scope: "openid" },
    redirect_uri: "https://evil.example/auth/callback",
  }).toString();
  t.equal((await new PersonBrowser(house.caFile).ask(redirect.href)).status, 400);
});

t.test("clickjacking: no page may be framed, and none runs another's script", async (t) => {
  const browser = await signedIn();
  for (const path of ["/dashboard", "/dashboard/jobs/x"]) {
    const { headers } = await browser.ask(`${origin}${path}`);
    t.match(headers["content-security-policy"], /frame-ancestors 'none'/);
    t.match(headers["content-security-policy"], /script-src 'self'(;|$)/);
    t.match(headers, { "x-frame-options": "DENY", "referrer-policy": "no-referrer" });
  }
  const page = await new PersonBrowser(house.caFile).ask(`${origin}/auth/sign-in`);
  t.match(page.headers["content-security-policy"], /frame-ancestors 'self'|frame-ancestors 'none'/);
});

t.test(
  "brute force: Keycloak locks the account for a while, and the right password is refused too",
  async (t) => {
    const target = await house.addAccount("target");
    const browser = new PersonBrowser(house.caFile);
    for (let tries = 0; tries < 6; tries++) {
      const page = await browser.ask(`${origin}/auth/sign-in`);
      await browser.submit(page, { username: target.username, password: `guess-${tries}` });
    }
    await t.rejects(wayBack(new PersonBrowser(house.caFile), target), /^no way back: 200/);
  },
);

t.test(
  "who is told nothing of a name: a wrong password and an unknown name look alike",
  async (t) => {
    const bodies = await Promise.all(
      [mallory.username, "nobody-of-this-name"].map(async (username) => {
        const browser = new PersonBrowser(house.caFile);
        const page = await browser.ask(`${origin}/auth/sign-in`);
        const { status, body } = await browser.submit(page, { username, password: "wrong" });
        return `${status} ${/Name or password is wrong/.test(body)}`;
      }),
    );
    t.same(bodies, ["200 true", "200 true"]);
  },
);

t.test("tokens of other clients and realms, and identity tokens, open nothing", async (t) => {
  const bearer = async (token: string) =>
    (
      await new PersonBrowser(house.caFile).ask(`${origin}/api/me`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  const tokens = await house.foreignTokens(anna);
  t.ok(Object.keys(tokens).length >= 4);
  for (const [what, token] of Object.entries(tokens)) t.equal(await bearer(token), 401, what);
  t.ok(failures().length > 0, "refusals of one source are counted for a minute");
});

t.test("oversized, deep and malformed bodies are refused before anybody is asked", async (t) => {
  const browser = await signedIn();
  const headers = {
    "content-type": "application/json",
    "x-rt-csrf": await csrfOf(browser),
    "sec-fetch-site": "same-origin",
  };
  const post = async (body?: string, more: Record<string, string> = {}) => {
    const options = { method: "POST", headers: { ...headers, ...more } };
    return (
      await browser.ask(
        `${origin}/api/approvals`,
        body === undefined ? options : { ...options, body },
      )
    ).status;
  };
  // Announced and not sent: the answer does not wait for the body, and would cut off whoever still sends.
  t.equal(await post(undefined, { "content-length": "2000000" }), 413);
  t.equal(await post(`${"[".repeat(100_000)}${"]".repeat(100_000)}`), 400);
  t.equal(await post('{"what":'), 400);
  t.equal(await post('{"__proto__":{"isAdmin":true},"what":{}}'), 400);
});

t.test("forwarded headers and the door's own say nothing", async (t) => {
  const browser = await signedIn();
  const before = house.api.audit.leaves.length;
  for (const name of ["x-rt-peer", "x-forwarded-for", "forwarded", "x-real-ip"])
    await new PersonBrowser(house.caFile).ask(`${origin}/api/me`, {
      headers: { [name]: "6.6.6.6" },
    });
  t.equal(
    (await browser.ask(`${origin}/api/me`, { headers: { host: "evil.example" } })).status,
    200,
  );
  t.notMatch(house.api.audit.leaves.slice(before).join(), /6\.6\.6\.6/);
  const page = await new PersonBrowser(house.caFile).ask(`${origin}/auth/sign-in`, {
    headers: { "x-forwarded-host": "evil.example" },
  });
  t.notMatch(page.body, /evil\.example/);
});

t.test("what is not for people does not pass: consoles, admin API, other realms", async (t) => {
  const browser = await signedIn();
  for (const path of [
    "/admin/realms/resontech/users",
    "/realms/master/protocol/openid-connect/token",
    "/realms/resontech/account",
    "/realms/resontech/clients-registrations/openid-connect",
    "/realms/resontech/protocol/openid-connect/../../../../admin/",
    "/health/ready",
  ])
    t.equal((await browser.ask(`${origin}${path}`)).status, 404, path);
  const metrics = await browser.ask(`${origin}/metrics`);
  t.match(metrics, { status: 401, body: /metrics_token_invalid/ }, "our own, by a token");
});
