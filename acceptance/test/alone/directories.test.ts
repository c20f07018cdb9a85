/** The customer's own people sign in to the installed appliance: by a real OpenLDAP, by OIDC and by SAML of a second real Keycloak. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import t from "tap";
import { LocalAppliance } from "@resontech/house/local-appliance";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import {
  prepareProvider,
  PROVIDER_CLIENT,
  PROVIDER_SECRET,
} from "@resontech/keycloak/testing/customer-provider";
import { RunningKeycloak } from "@resontech/house/running-keycloak";
import { LDAP_READER, RunningSlapd } from "@resontech/keycloak/testing/running-slapd";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const { RESON_BASE_URL: base = "", SSL_CERT_FILE: rootCert = "" } = appliance.quickstart();
const images = process.env["RT_IMAGES"];

t.setTimeout(600_000);
const folder = mkdtempSync(join(tmpdir(), "rt-directories-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string, mode = 0o600): string => {
  writeFileSync(join(folder, name), text, { mode });
  return join(folder, name);
};
const passwordOf = (name: string): string => `${name}-of-the-directory`;

const slapd = await RunningSlapd.start();
t.teardown(() => slapd[Symbol.asyncDispose]());
const provider = await RunningKeycloak.start({ trusted: [rootCert] });
t.teardown(() => provider[Symbol.asyncDispose]());
await slapd.addPerson("erika", passwordOf("erika"));
await slapd.setGroup("doctors", ["erika"]);
const realm = "resontech";
const people = ["uni-person", "clinic-person"];
await prepareProvider(
  provider,
  { origin: base, realm, oidc: "uni", saml: "clinic" },
  people.map((username) => ({ username, password: passwordOf(username) })),
);
const browser = await launchApplianceBrowser(appliance, provider.address.origin);
t.teardown(() => browser.close());

/** `said`: what it tells people, its faults last. */
type Said = { status: number | null; out: string; said: string };

/** A command of the appliance, which may fail. */
function appl(...args: string[]): Said {
  const command = join(root, "current", "bin", "appliance");
  const { status, stdout, stderr } = spawnSync(command, ["--root", root, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { status, out: stdout, said: `${stdout}${stderr}` };
}
const identity = (...args: string[]): Said => appl("identity", ...args);
const { url, peopleDn, bindDn, groups } = slapd.connection("corp");
const ldap = (...others: string[]): string[] => [
  ...["connect", "ldap", "corp", "--url", url, "--people", peopleDn, "--bind", bindDn],
  ...["--groups", groups?.dn ?? "", ...others],
];

t.test("what can't be is refused by name, and nothing is connected by it", (t) => {
  const reader = file("reader", LDAP_READER.password);
  const open = file("open", LDAP_READER.password, 0o644);
  const metadata = `${provider.address.origin}/realms/master/.well-known/openid-configuration`;
  const oidc = ["connect", "oidc", "uni", "--client-id", PROVIDER_CLIENT, "--metadata"];
  const secret = ["--secret-file", file("secret", PROVIDER_SECRET)];
  for (const [what, args, status, why] of [
    ["an option that is missing", ["connect", "ldap", "corp"], 2, /required option '--url <url>'/],
    ["an option that there is none of", ldap("--starttls"), 2, /unknown option '--starttls'/],
    ["a kind that there is none of", ["connect", "kerberos", "corp"], 2, /unknown command/],
    [
      "an address that is not encrypted",
      ldap("--url", "ldap://localhost", "--password-file", reader),
      2,
      /appliance: --url must be ldaps:[^;]*; several, blanks between\n$/,
    ],
    [
      "a name that is none",
      ldap("--password-file", reader).with(2, "Corp!"),
      2,
      /appliance: the name must be small letters[^;]*\n$/,
    ],
    [
      "a filter without parentheses",
      ldap("--filter", "uid=*", "--password-file", reader),
      2,
      /appliance: --filter must be a filter in parentheses[^;]*\n$/,
    ],
    ["nobody who types the password", ldap(), 1, /secret_missing: .*\n.*--password-file FILE/],
    [
      "a password that others can read",
      ldap("--password-file", open),
      1,
      /secret_readable: .*\n.*chmod 600/,
    ],
    [
      "an authority that is no certificate",
      ldap("--password-file", reader, "--ca", reader),
      2,
      /--ca .*: no PEM certificate/,
    ],
    [
      "a directory that nobody vouches for",
      ldap("--password-file", reader),
      1,
      /WRONG .*\n.*\n +what to do: .*--ca[\s\S]*connection_failed: corp is not connected/,
    ],
    [
      "metadata that anybody could change",
      [...oidc, metadata.replace("https:", "http:"), ...secret],
      2,
      /--metadata: over http/,
    ],
    [
      "metadata of a provider that nobody vouches for",
      [...oidc, metadata, ...secret],
      1,
      /connection_failed: [\s\S]*what to do: .*--ca/,
    ],
    [
      "what describes no provider",
      ["connect", "saml", "clinic", "--metadata", file("no.xml", "<html/>")],
      1,
      /metadata_invalid: /,
    ],
    ["a try of what is not connected", ["test", "corp"], 1, /connection_unknown: .*\n.*--help/],
    ["an end of what is not connected", ["disconnect", "corp"], 1, /connection_unknown: /],
    ["a group without a role", ["map", "corp/doctors"], 2, /required option '--role <role>'/],
  ] as const) {
    const { status: found, said } = identity(...args);
    t.equal(found, status, `${what}: ${said}`);
    t.match(said, why, what);
    t.notMatch(said, /\n +at /, `${what}: no trace of the program`);
    t.notMatch(said, LDAP_READER.password);
  }
  t.same(JSON.parse(identity("ls", "--json").out), { connections: [] });
  t.end();
});

t.test("a person of an LDAP directory signs in, and a group gives the role", async (t) => {
  const wrong = identity(
    ...ldap("--ca", slapd.caFile, "--password-file", file("wrong", "not-the-password")),
  );
  t.equal(wrong.status, 1);
  t.match(wrong.said, /WRONG .*\n.*\n +what to do: .*\n[\s\S]*corp is not connected/);
  t.notMatch(wrong.said, /keycloak starts again/, "what is wrong is told before anybody waits");

  const made = identity(
    ...ldap("--ca", slapd.caFile, "--password-file", file("reader", LDAP_READER.password)),
  );
  t.equal(made.status, 0, made.said);
  t.match(made.said, /corp is connected/);
  t.match(identity("ls").out, new RegExp(`corp +ldap +${url} +${groups?.dn}`));
  const tried = identity(
    ...["test", "corp", "--user", "erika"],
    ...["--password-file", file("erika", passwordOf("erika"))],
  );
  t.equal(tried.status, 0, tried.said);
  t.match(tried.said, /right .*doctors/);
  const refused = identity(
    ...["test", "corp", "--user", "erika", "--password-file", file("other", "wrong")],
  );
  t.equal(refused.status, 3);
  t.match(refused.said, /WRONG /);
  t.equal(identity("test", "corp", "--user", "nobody", "--no-password").status, 3);
  t.same(JSON.parse(identity("diff", "--json").out), { drift: [] });

  await appliance.command(["add-user", "lead-of-screening"]);
  const { project } = JSON.parse(
    await appliance.command([
      "project",
      "add",
      "screening",
      "--lead",
      "lead-of-screening",
      "--json",
    ]),
  ) as { project: string };
  await appliance.command(
    ["identity", "map", "corp/doctors"].concat("--project", project, "--role", "researcher"),
  );
  const page = await freshPage();
  await begin(page);
  await page.fill("#username", "erika");
  await page.fill("#password", passwordOf("erika"));
  await page.click("#kc-login");
  t.match(await shown(page), {
    ...{ username: "erika", roles: "none on the whole appliance" },
    ...{ projects: /screening \(researcher\)/, acr: "without a second factor" },
  });
  if (images !== undefined) await page.screenshot({ path: `${images}/signed-in-by-ldap.png` });
});

t.test("people of an OIDC and of a SAML provider sign in by a button", async (t) => {
  const metadata = `${provider.address.origin}/realms/master/.well-known/openid-configuration`;
  const oidc = identity(
    ...["connect", "oidc", "uni", "--label", "University", "--client-id", PROVIDER_CLIENT],
    ...["--metadata", metadata, "--groups-claim", "groups", "--ca", provider.certFile],
    ...["--secret-file", file("secret", PROVIDER_SECRET)],
  );
  t.equal(oidc.status, 0, oidc.said);
  t.match(oidc.said, `${base}/realms/${realm}/broker/uni/endpoint`);
  t.match(oidc.said, `${base}/realms/${realm}/protocol/openid-connect/logout/backchannel-logout`);
  const { text } = await provider.ask("/realms/master/protocol/saml/descriptor");
  const saml = identity(
    ...["connect", "saml", "clinic", "--label", "Clinic", "--username-attribute", "uid"],
    ...["--metadata", file("idp.xml", text), "--ca", provider.certFile],
  );
  t.equal(saml.status, 0, saml.said);
  t.match(saml.said, `${base}/realms/${realm}/broker/clinic/endpoint/descriptor`);
  for (const name of ["uni", "clinic"]) t.equal(identity("test", name).status, 0, name);
  const person = identity("test", "uni", "--user", "uni-person");
  t.equal(person.status, 2);
  t.match(person.said, /only a browser can try a person/);
  t.match(JSON.parse(identity("ls", "--json").out), {
    connections: [
      { name: "corp" },
      { name: "uni", kind: "oidc" },
      { name: "clinic", kind: "saml" },
    ],
  });
  t.same(JSON.parse(identity("diff", "--json").out), { drift: [] });

  const choice = await freshPage();
  await begin(choice);
  await choice.waitForSelector("#social-clinic");
  if (images !== undefined)
    await choice
      .locator(".pf-v5-c-login__main")
      .screenshot({ path: `${images}/sign-in-providers.png` });
  for (const name of ["uni", "clinic"]) {
    const page = await freshPage();
    await begin(page);
    await page.click(`#social-${name}`);
    await page.waitForURL((to) => to.href.startsWith(provider.address.origin));
    await page.fill("#username", `${name}-person`);
    await page.fill("#password", passwordOf(`${name}-person`));
    await page.click("#kc-login");
    t.match(await shown(page), { username: `${name}-person`, projects: "default (project-lead)" });
  }
});

t.test("what is disconnected signs nobody in any more", async (t) => {
  for (const name of ["corp", "uni", "clinic"]) t.equal(identity("disconnect", name).status, 0);
  t.same(JSON.parse(identity("ls", "--json").out), { connections: [] });
  t.same(JSON.parse(identity("diff", "--json").out), { drift: [] });
  const page = await freshPage();
  await begin(page);
  t.equal(await page.locator("[id^=social-]").count(), 0, "no button is left");
  await page.fill("#username", "erika");
  await page.fill("#password", passwordOf("erika"));
  await page.click("#kc-login");
  await page.getByText("Name or password is wrong").waitFor();

  const other = file("other.xml", samlOf("https://another.example/idp"));
  const taken = identity("connect", "saml", "clinic", "--metadata", other);
  t.match(taken, { status: 1, said: /connection_name_taken: the name clinic stood for saml / });
});

async function freshPage(): Promise<Page> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 900, height: 640 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  return page;
}

async function begin(page: Page): Promise<void> {
  await page.goto(`${base}/`);
  await page.waitForSelector("#username[name=username]");
}

/** What the page says of who is in. */
async function shown(page: Page): Promise<Record<string, string | null>> {
  await page.waitForSelector("#who:not([hidden])").catch(async (error: unknown) => {
    const body = (await page.textContent("body"))?.replaceAll(/\s+/g, " ");
    throw new Error(`${page.url()}: ${body}`, { cause: error });
  });
  await page.goto(`${base}/dashboard/profile`);
  const facts = ["username", "roles", "projects", "acr"];
  const texts = await Promise.all(facts.map((id) => page.textContent(`#${id}`)));
  return Object.fromEntries(facts.map((id, index) => [id, texts[index] ?? null]));
}

/** The provider's own metadata, of another name. */
function samlOf(entity: string): string {
  const own = readFileSync(join(folder, "idp.xml"), "utf8");
  return own.replace(/entityID="[^"]*"/, `entityID="${entity}"`);
}
