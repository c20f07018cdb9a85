/** Where people are signed in, and how others end it: real browsers' cookies, real sessions of Keycloak. */
import type { SessionsReply } from "@resontech/contracts/http-identity";
import t from "tap";
import { CHECK_MS } from "../../src/identity/decisions/session-life.ts";
import { locationOf, PersonBrowser } from "../helper/person-browser.ts";
import { SignInHouse } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { origin } = house;

async function person(username: string) {
  const account = await house.addAccount(username);
  return { ...account, userId: await house.firstSignIn(account) };
}
async function signIn(account: { username: string; password: string }): Promise<PersonBrowser> {
  const browser = new PersonBrowser(house.caFile);
  const page = await browser.ask(`${origin}/auth/sign-in`);
  const back = await browser.submit(page, account);
  await browser.ask(locationOf(back));
  return browser;
}
const isIn = async (browser: PersonBrowser) =>
  (await browser.ask(`${origin}/api/me`)).status === 200;
async function sessionsOf(browser: PersonBrowser, userId: string): Promise<SessionsReply> {
  const { status, body } = await browser.ask(`${origin}/api/people/${userId}/sessions`);
  if (status !== 200) throw new Error(body);
  return JSON.parse(body) as SessionsReply;
}
async function end(browser: PersonBrowser, userId: string, session: string) {
  const own = JSON.parse((await browser.ask(`${origin}/api/session`)).body) as {
    csrfToken: string;
  };
  const { status, body } = await browser.ask(`${origin}/api/people/${userId}/sessions/${session}`, {
    method: "DELETE",
    headers: { "x-rt-csrf": own.csrfToken, "sec-fetch-site": "same-origin" },
  });
  return { status, body: JSON.parse(body) as Record<string, unknown> };
}
const ends = () => house.api.audit.drafts.filter(({ type }) => type === "auth.session.end");

const anna = await person("anna");
const bert = await person("bert");

t.test("fifty requests at the time of a look at Keycloak make one refresh", async (t) => {
  const browser = await signIn(await person("carl"));
  const { provider } = house.parts;
  const refresh = provider.refresh.bind(provider);
  let refreshes = 0;
  provider.refresh = async (...tokens) => {
    refreshes += 1;
    return await refresh(...tokens);
  };
  t.teardown(() => {
    provider.refresh = refresh;
  });
  house.api.clock.now += CHECK_MS;
  const all = await Promise.all(Array.from({ length: 50 }, () => isIn(browser)));
  t.same(all, Array(50).fill(true));
  t.equal(refreshes, 1);
});

t.test("a person sees the own sessions, and ends another browser's for good", async (t) => {
  const [here, lost] = [await signIn(anna), await signIn(anna)];
  const { sessions, complete } = await sessionsOf(here, anna.userId);
  t.equal(complete, true);
  t.same(
    sessions.map(({ kind }) => kind),
    ["browser", "browser"],
  );
  t.equal(sessions.filter(({ current }) => current).length, 1);
  t.match(house.api.audit.drafts.at(-1), {
    ...{ type: "auth.session.list", object: { id: anna.userId }, detail: { count: 2 } },
  });
  const other = sessions.find(({ current }) => !current)!.id;
  t.equal(await isIn(lost), true);
  t.equal((await end(here, anna.userId, other)).status, 200);
  t.match(ends().at(-1), {
    ...{ actor: { sub: anna.userId, kind: "user" }, object: { kind: "user", id: anna.userId } },
    detail: { reason: "revoked" },
  });
  t.equal(await isIn(lost), false);
  t.equal(await isIn(here), true);
  const again = await lost.ask(`${origin}/auth/sign-in`);
  t.match(again.body, /id="username"|name="username"/, "Keycloak asks for the password again");
  t.match(await end(here, anna.userId, other), { status: 404 });
  t.equal((await sessionsOf(here, anna.userId)).sessions.length, 1);
});

t.test(
  "nobody sees or ends the sessions of another, nor learns whether there are any",
  async (t) => {
    const [hers, his] = [await signIn(anna), await signIn(bert)];
    const { sessions } = await sessionsOf(hers, anna.userId);
    const { id } = sessions.find(({ current }) => current)!;
    const before = ends().length;
    const asked = async (userId: string) =>
      (await his.ask(`${origin}/api/people/${userId}/sessions`)).body;
    t.equal(await asked(anna.userId), await asked("u_nobody"));
    const absent = await end(his, "u_nobody", id);
    t.match(absent, { status: 404, body: { message: "there is no such session" } });
    t.same(await end(his, anna.userId, id), absent);
    t.match(
      await end(his, bert.userId, id),
      { status: 404 },
      "another's session below the own name",
    );
    t.equal(await isIn(hers), true);
    t.equal(ends().length, before);
  },
);

t.test("an administrator ends a user's session, and the log says who did", async (t) => {
  const hers = await signIn(anna);
  const root = await person("root");
  const admin = await house.signedIn(root.userId, { roles: ["platform-admin"] });
  const path = `/api/people/${anna.userId}/sessions`;
  const { sessions } = (await admin("GET", path)).body as unknown as SessionsReply;
  for (const { id } of sessions) t.match(await admin("DELETE", `${path}/${id}`), { status: 200 });
  t.match(ends().at(-1), {
    actor: { sub: root.userId, roles: ["platform-admin", "project-lead"] },
    object: { id: anna.userId },
  });
  t.equal(await isIn(hers), false);
  const auditor = await house.signedIn(bert.userId, { roles: ["compliance-auditor"] });
  t.match(await auditor("GET", path), { status: 404 });
});

t.test(
  "what Keycloak holds of a person is told without a credential, and can be taken away",
  async (t) => {
    const { accounts } = house.parts;
    const gone = await house.addAccount("gone");
    t.match(await accounts.heldAbout(gone.subject), {
      ...{ username: "gone", email: null, createdAt: /^20/ },
      credentials: [{ type: "password", createdAt: /^20/ }],
    });
    t.notMatch(JSON.stringify(await accounts.heldAbout(gone.subject)), /secret|hash|salt/i);
    await accounts.remove(gone.subject);
    await accounts.remove(gone.subject);
    t.equal(await accounts.heldAbout(gone.subject), null);
  },
);

t.test("nobody is given what is held about another, but by an officer", async (t) => {
  const path = `/api/people/${anna.userId}/data`;
  const asked = async (who: string, roles: readonly string[] = []) =>
    (await (await house.signedIn(who, { roles }))("GET", path)).body["code"];
  t.equal(await asked(bert.userId), "not_found");
  t.equal(await asked(bert.userId, ["platform-admin"]), "not_found");
  t.equal(await asked(bert.userId, ["compliance-auditor"]), "not_found");
  // The door lets these through: there is no search of the log here, and nothing is given without it.
  t.equal(await asked(bert.userId, ["security-officer"]), "audit_search_unavailable");
  t.equal(await asked(anna.userId), "audit_search_unavailable");
});
