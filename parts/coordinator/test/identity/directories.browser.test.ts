import { setTimeout as sleep } from "node:timers/promises";
import { applyDirectory } from "@resontech/keycloak/apply-directory";
import { directoryOf } from "@resontech/keycloak/directory-form";
import { readMetadata } from "@resontech/keycloak/read-metadata";
import { type Connection, READ_AGAIN_DEFAULT_MS } from "@resontech/contracts/identity-connections";
import { launchBrowser } from "@resontech/house/launch-browser";
import type { Page } from "playwright-core";
import t from "tap";
import {
  prepareProvider,
  PROVIDER_CLIENT,
  PROVIDER_SECRET,
} from "@resontech/keycloak/testing/customer-provider";
import { RunningKeycloak } from "@resontech/house/running-keycloak";
import { LDAP_READER, RunningSlapd } from "@resontech/keycloak/testing/running-slapd";
import { mapGroup } from "../../src/identity/directories/group-store.ts";
import { LOOK_MS, lookAtAll } from "../../src/identity/leavers.ts";
import { requestRoleOnRecord } from "../../src/identity/directories/request-role.ts";
import { collect } from "../../src/identity/keycloak-events/event-collector.ts";
import { findPersonById, membershipsOf, subjectOf } from "../../src/identity/people-store.ts";
import { CHECK_MS } from "../../src/identity/decisions/session-life.ts";
import { SignInHouse, timeCode } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const REALM = "resontech";
/** Keycloak believes for a second what it read of a person. */
const READ_AGAIN_MS = 1_000;
const corp = { name: "corp", kind: "storage" } as const;
const images = process.env["RT_IMAGES"];

const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const slapd = await RunningSlapd.start(house.keycloak);
t.teardown(() => slapd[Symbol.asyncDispose]());
const upstream = await RunningKeycloak.start({ sameAs: house.keycloak });
t.teardown(() => upstream[Symbol.asyncDispose]());
const browser = await launchBrowser(house.origin, upstream.address.origin);
t.teardown(() => browser.close());
const { admin, api } = house;
const { read } = api.database;
const watch = {
  ...{ read, commit: api.commit, record: api.audit.record, accounts: house.accounts },
  ...{ sessions: house.parts.sessions, now: () => api.clock.now },
  requestRole: requestRoleOnRecord(api.audit.record, () => api.clock.now),
};

await house.addAccount("taken");
for (const uid of ["erika", "max", "taken"]) await slapd.addPerson(uid, passwordOf(uid));
await slapd.setGroup("doctors", ["erika", "max"]);
await slapd.setGroup("it", ["erika"]);
await connect(slapd.connection("corp", READ_AGAIN_MS), LDAP_READER.password);
const owner = await api.addUser("owner");
await api.commit.run((db) => {
  mapGroup(db, { group: "corp/doctors", project: owner.projectId, role: "researcher" });
  mapGroup(db, { group: "corp/it", project: null, role: "platform-admin" });
  mapGroup(db, { group: "uni/staff", project: owner.projectId, role: "viewer" });
});

let erika = "";
t.test(
  "a person of an LDAP directory signs in, and groups give roles in projects alone",
  async (t) => {
    const page = await freshPage();
    erika = await signIn(page, "erika", passwordOf("erika"));
    t.match(findPersonById(read, erika), { source: { name: "corp", kind: "storage" } });
    t.match(
      membershipsOf(read, erika).find(({ projectId }) => projectId === owner.projectId),
      { role: "researcher" },
    );
    t.equal(await page.textContent("#roles"), "none on the whole appliance");
    t.match(
      api.audit.drafts.find(({ type }) => type === "iam.role.request"),
      { object: { id: erika }, detail: { role: "platform-admin" } },
    );

    await slapd.setGroup("doctors", ["max"]);
    await sleep(READ_AGAIN_MS + 200);
    api.clock.now += CHECK_MS;
    await page.goto(`${house.origin}/`);
    await page.waitForSelector("#who:not([hidden])");
    t.same(
      membershipsOf(read, erika).filter(({ projectId }) => projectId === owner.projectId),
      [],
      "who left the group has its role no longer",
    );
  },
);

t.test("a directory that is away ends no session, and one who left it is out", async (t) => {
  const page = await freshPage();
  const max = await signIn(page, "max", passwordOf("max"));
  await slapd.stop();
  await sleep(READ_AGAIN_MS + 200);
  api.clock.now += CHECK_MS;
  t.ok(READ_AGAIN_DEFAULT_MS + Math.max(CHECK_MS, LOOK_MS) < 5 * 60_000);
  await page.goto(`${house.origin}/`);
  await page.waitForSelector("#who:not([hidden])");
  t.equal(await page.textContent("#username"), "max", "signed in though nobody can be asked");
  await lookAtAll(watch);
  t.match(findPersonById(read, max), { hasLeft: false });
  const stranger = await freshPage();
  await begin(stranger, "erika", passwordOf("erika"));
  await stranger.getByText("The directory that knows you does not answer").waitFor();
  await shot(stranger, "sign-in-directory-away");

  await slapd.startAgain();
  const subject = subjectOf(read, erika) ?? "";
  await house.accounts.setEnabled(subject, false);
  t.equal((await house.accounts.lookAt(subject, corp)).standing, "disabled");
  await house.accounts.setEnabled(subject, true);
  t.equal((await house.accounts.lookAt(subject, corp)).standing, "there");
  await slapd.removePerson("max");
  await sleep(READ_AGAIN_MS + 200);
  api.clock.now += CHECK_MS;
  await page.goto(`${house.origin}/`);
  await page.waitForURL(/openid-connect\/auth/);
  t.match(api.audit.drafts.at(-1), { type: "auth.session.end", detail: { reason: "removed" } });
  await lookAtAll(watch);
  t.match(findPersonById(read, max), { hasLeft: true });
  await slapd.addPerson("max", passwordOf("max"));
  const somebody = await freshPage();
  await begin(somebody, "max", passwordOf("max"));
  await somebody.getByText("A user of this name is here already").waitFor();
  t.comment("another person of the name is nobody who was here");
});

t.test("who has a local user's name is refused, by LDAP", async () => {
  const page = await freshPage();
  await begin(page, "taken", passwordOf("taken"));
  await page.getByText("Name or password is wrong").waitFor();
});

t.test("people sign in by OIDC and SAML, and never as somebody who is here", async (t) => {
  await prepareUpstream();
  const page = await freshPage();
  await page.goto(`${house.origin}/`);
  await page.waitForSelector("#social-uni");
  await shot(page, "sign-in-providers");
  for (const name of ["uni", "clinic"]) {
    const person = `${name}-person`;
    const inside = await freshPage();
    const userId = await viaProvider(inside, name, person);
    t.match(findPersonById(read, userId), { username: person, source: { name, kind: "broker" } });
    t.equal(
      membershipsOf(read, userId).some(({ projectId }) => projectId === owner.projectId),
      name === "uni",
      "a provider's group counts under its own name alone",
    );
    const again = await freshPage();
    t.equal(await viaProvider(again, name, person), userId, "the same person again");

    if (name === "uni") {
      const [{ id } = { id: "" }] = await upstream.admin.get<{ id: string }[]>(
        `/master/users?username=${person}&exact=true`,
      );
      await upstream.admin.post(`/master/users/${id}/logout`, {});
      await inside.goto(`${house.origin}/`);
      // The provider's back-channel ends the session.
      await inside.waitForURL(/openid-connect\/auth/);
    }

    const thief = await freshPage();
    await toProvider(thief, name, "taken");
    await thief.waitForURL((url) => url.href.startsWith(house.origin));
    t.match(thief.url(), new RegExp(`^${house.origin}/realms/resontech/`));
    await thief.getByText("A user of this name is here already").waitFor();
    t.notOk(await thief.isVisible("#who"));
    if (name === "uni") await shot(thief, "sign-in-name-taken");
  }
  const links = await admin.get<{ id: string }[]>(`/${REALM}/users?username=taken&exact=true`);
  t.same(await admin.get(`/${REALM}/users/${links[0]?.id}/federated-identity`), []);
});

t.test("a privileged person of a provider shows a second factor of this appliance", async (t) => {
  for (const name of ["uni", "clinic"]) {
    const chief = `${name}-chief`;
    const plain = await freshPage();
    const userId = await viaProvider(plain, name, chief);
    t.match(await plain.textContent("#acr"), /without a second factor/);
    const all = await admin.get<{ id: string; name: string }[]>(`/${REALM}/roles`);
    await admin.post(
      `/${REALM}/users/${subjectOf(read, userId)}/role-mappings/realm`,
      all.filter((role) => role.name === "platform-admin"),
    );

    const page = await freshPage();
    await toProvider(page, name, chief);
    await page.click("#mode-manual");
    const secret = (await page.textContent("#kc-totp-secret-key")) ?? "";
    await page.fill("#totp", timeCode(secret));
    await page.click("#saveTOTPBtn");
    t.equal(await whoIsIn(page), userId);
    t.equal(await page.textContent("#roles"), "platform-admin");
    t.match(await page.textContent("#acr"), /with a second factor/);

    const again = await freshPage();
    await toProvider(again, name, chief);
    await again.fill("#otp", "000000");
    await again.click("#kc-login");
    await again.getByText("Invalid authenticator code").waitFor();
    await again.goto(`${house.origin}/`);
    await again.waitForURL(/openid-connect\/auth|login-actions/);
    t.notOk(await again.isVisible("#who"), "the provider's word alone gives no session");
    const third = await freshPage();
    await toProvider(third, name, chief);
    // The code of this half minute is used up.
    await third.fill("#otp", timeCode(secret, Date.now() + 30_000));
    await third.click("#kc-login");
    t.equal(await whoIsIn(third), userId);
    t.match(await third.textContent("#acr"), /with a second factor/);
    await third.goto(`${house.origin}/auth/step-up?return=/dashboard/jobs/x`);
    await third.waitForSelector("#otp");
    t.notOk(await third.isVisible("#password"), "a step-up asks for the code, and no password");
  }
});

t.test("what Keycloak saw is in the log, each event once", async (t) => {
  const events = (...asked: Parameters<typeof house.accounts.events>) =>
    house.accounts.events(...asked);
  const before = api.audit.drafts.length;
  await collect({ ...watch, events });
  const seen = api.audit.drafts.slice(before);
  t.ok(seen.some(({ type }) => type === "auth.idp.admin"));
  t.match(
    seen.find(
      ({ type, detail }) =>
        type === "auth.idp.sign-in" &&
        detail !== undefined &&
        "provider" in detail &&
        "what" in detail &&
        detail.what === "login",
    ),
    { actor: { kind: "user" }, detail: { source: "keycloak", provider: "uni" } },
  );
  t.ok(seen.some(({ type, actor }) => type === "auth.idp.failure" && actor.kind === "anonymous"));
  t.notOk(api.audit.leaves.slice(before).some((leaf) => /erika|127\.0\.0\.1/.test(leaf)));
  await collect({ ...watch, events });
  t.equal(api.audit.drafts.length, before + seen.length);
});

async function connect(connection: Connection, secret: string | null): Promise<void> {
  await applyDirectory(admin, REALM, directoryOf(connection), secret);
}

function passwordOf(uid: string): string {
  return `${uid}-of-the-directory`;
}

async function freshPage(): Promise<Page> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 900, height: 700 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  return page;
}

async function begin(page: Page, username: string, password: string): Promise<void> {
  await page.goto(`${house.origin}/`);
  await page.fill("#username", username);
  await page.fill("#password", password);
  await page.click("#kc-login");
}

/** Answers with the user's id, and leaves the page at the profile, which says more. */
async function signIn(page: Page, username: string, password: string): Promise<string> {
  await begin(page, username, password);
  return await whoIsIn(page);
}

async function toProvider(page: Page, name: string, username: string): Promise<void> {
  await page.goto(`${house.origin}/`);
  await page.click(`#social-${name}`);
  await page.waitForURL((url) => url.href.startsWith(upstream.address.origin));
  await page.fill("#username", username);
  await page.fill("#password", passwordOf(username));
  await page.click("#kc-login");
}

async function viaProvider(page: Page, name: string, username: string): Promise<string> {
  await toProvider(page, name, username);
  return await whoIsIn(page);
}

async function whoIsIn(page: Page): Promise<string> {
  await page.waitForSelector("#who:not([hidden])").catch(async (error: unknown) => {
    throw new Error(`${page.url()}: ${(await page.textContent("body"))?.replaceAll(/\s+/g, " ")}`, {
      cause: error,
    });
  });
  await page.goto(`${house.origin}/dashboard/profile`);
  const shown = await page.evaluate(async () => await (await fetch("/api/session")).json());
  return (shown as { user: { id: string } }).user.id;
}

async function shot(page: Page, name: string): Promise<void> {
  if (images !== undefined)
    await page.locator(".pf-v5-c-login__main").screenshot({ path: `${images}/${name}.png` });
}

/** The customer's own provider, connected by both ways. */
async function prepareUpstream(): Promise<void> {
  const people = ["uni-person", "clinic-person", "uni-chief", "clinic-chief", "taken"];
  await prepareProvider(
    upstream,
    { origin: house.origin, realm: REALM, oidc: "uni", saml: "clinic" },
    people.map((username) => ({ username, password: passwordOf(username) })),
  );
  const metadata = async (path: string) => (await upstream.ask(`/realms/master/${path}`)).text;
  await connect(
    {
      ...{ kind: "oidc", name: "uni", label: "University", clientId: PROVIDER_CLIENT },
      provider: await readMetadata(
        ...([admin, REALM, "oidc"] as const),
        await metadata(".well-known/openid-configuration"),
      ),
      ...{ usernameFrom: "preferred_username", groupsFrom: "groups" },
    },
    PROVIDER_SECRET,
  );
  await connect(
    {
      ...{ kind: "saml", name: "clinic", label: "Clinic" },
      provider: await readMetadata(
        ...([admin, REALM, "saml"] as const),
        await metadata("protocol/saml/descriptor"),
      ),
      ...{ usernameFrom: "uid", groupsFrom: "groups" },
    },
    null,
  );
}
