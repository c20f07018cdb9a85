import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Connection, LdapConnection } from "@resontech/contracts/identity-connections";
import t from "tap";
import { applyDirectory, removeDirectory } from "../src/directories/apply-directory.ts";
import { directoryOf } from "../src/directories/decisions/directory-form.ts";
import { readDirectories } from "../src/directories/read-directories.ts";
import { readMetadata } from "../src/directories/read-metadata.ts";
import { tryBindFromHere } from "../src/directories/tries/try-bind.ts";
import { tryBroker } from "../src/directories/tries/try-broker.ts";
import { tryStorage } from "../src/directories/tries/try-storage.ts";
import { applyRealm } from "../src/realm/apply-realm.ts";
import { realmDrift } from "../src/realm/decisions/realm-drift.ts";
import { readRealm } from "../src/realm/read-realm.ts";
import { realmDefinition } from "../src/realm/realm-definition.ts";
import { RunningKeycloak } from "@resontech/house/running-keycloak";
import { LDAP_READER, RunningSlapd } from "./helper/running-slapd.ts";

t.setTimeout(600_000);
const REALM = "resontech";
const slapd = await RunningSlapd.start();
t.teardown(() => slapd[Symbol.asyncDispose]());
await slapd.addPerson("erika", "erika-of-the-directory");
await slapd.addPerson("local", "local-of-the-directory");
await slapd.setGroup("doctors", ["erika"]);
const keycloak = await RunningKeycloak.start({ trusted: [slapd.caFile] });
t.teardown(() => keycloak[Symbol.asyncDispose]());
const { admin, address } = keycloak;

const corp = slapd.connection("corp");
const file = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "policies", "realm.json"),
  "utf8",
);
const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = { ...publicKey.export({ format: "jwk" }), kid: "test", alg: "ES256", use: "sig" };
const jwks = JSON.stringify({ keys: [jwk] });
const wanted = (...connections: Connection[]) =>
  realmDefinition(
    file,
    { origin: address.origin, jwks: { dashboard: jwks, coordinator: jwks } },
    connections,
  );
const drift = async (...connections: Connection[]) =>
  realmDrift(wanted(...connections), (await readRealm(admin, REALM))?.realm ?? null);
await applyRealm(admin, wanted());
await admin.renew();
await admin.post(`/${REALM}/users`, { username: "local", enabled: true });

t.test("a connected directory is no drift, and what somebody changes of it is", async (t) => {
  t.match(await drift(corp), [{ kind: "directory", name: "corp", what: "missing" }]);
  await t.rejects(applyRealm(admin, wanted(corp)), { code: "directory_secret_missing" });
  await applyDirectory(admin, REALM, directoryOf(corp), LDAP_READER.password);
  t.same(await drift(corp), []);
  t.match(await drift(), [{ kind: "directory", name: "corp", what: "unknown" }]);

  const [found] = await readDirectories(admin, REALM);
  const settings = found?.settings as { config: Record<string, string[]> };
  await admin.put(`/${REALM}/components/${found?.id}`, {
    ...settings,
    id: found?.id,
    config: { ...settings.config, editMode: ["WRITABLE"] },
  });
  t.match(await applyRealm(admin, wanted(corp)), [{ kind: "directory", what: "config" }]);
  t.same(await drift(corp), []);
  t.same(await faults(corp), [], "the secret that Keycloak had is still good");
});

t.test("a try says what is wrong, in words", async (t) => {
  t.same(await faults(corp, { username: "erika", password: "erika-of-the-directory" }), []);
  const checks = await tried(corp, { username: "erika", password: null });
  t.equal(checks.at(-1)?.what, "erika is in corp/doctors");
  t.match(await faults(corp, { username: "erika", password: "wrong" }), [/refuses uid=erika/]);
  t.match(await faults(corp, { username: "nobody", password: "x" }), [
    /nobody there has uid=nobody/,
  ]);
  t.match(await faults(corp, { username: "local", password: "x" }), [/somebody else's here/]);
  t.match(await faults({ ...corp, url: "ldaps://localhost:1" }), [/nothing listens/]);
  t.match(await faults({ ...corp, url: "ldaps://nowhere.invalid" }), [/is unknown here/]);
  t.match(await faults(corp, null, { caPem: null }), [/nobody who is trusted here vouches/]);
  t.match(await faults(corp, null, { secret: "wrong" }), [/refuses this name with this password/]);
});

t.test("a name and its password are tried before Keycloak has to trust anybody", async (t) => {
  const caPem = readFileSync(slapd.caFile, "utf8");
  const faultsFromHere = async (secret: string, ca: string | null, url = corp.url) =>
    (await tryBindFromHere({ ...corp, url }, secret, ca)).flatMap(({ fault }) => fault ?? []);
  t.same(await faultsFromHere(LDAP_READER.password, caPem), []);
  t.match(await faultsFromHere("wrong", caPem), [/refuses this name with this password/]);
  t.match(
    await faultsFromHere("wrong", caPem, `${corp.url} ${corp.url}`),
    [/refuses/],
    "one wrong password is enough",
  );
  t.match(await faultsFromHere(LDAP_READER.password, null), [/nobody who is trusted here vouches/]);
  t.match(await faultsFromHere("x", caPem, "ldaps://localhost:1"), [/nothing listens/]);
});

t.test("metadata of OIDC and SAML become connections that are no drift", async (t) => {
  const caPem = address.caPem;
  const { text } = await keycloak.ask("/realms/master/.well-known/openid-configuration");
  const uni: Connection = {
    ...{ kind: "oidc", name: "uni", label: "University", clientId: "resontech" },
    provider: await readMetadata(admin, REALM, "oidc", text),
    ...{ usernameFrom: "preferred_username", groupsFrom: "groups" },
  };
  t.same(await faultsOf(tryBroker(uni, caPem)), []);
  t.match(await faultsOf(tryBroker(uni, null)), [/nobody who is trusted/, /nobody who is trusted/]);
  const xml = await keycloak.ask("/realms/master/protocol/saml/descriptor");
  const clinic: Connection = {
    ...{ kind: "saml", name: "clinic", label: "Clinic" },
    provider: await readMetadata(admin, REALM, "saml", xml.text),
    ...{ usernameFrom: "uid", groupsFrom: null },
  };
  t.same(await faultsOf(tryBroker(clinic, caPem)), []);
  await applyDirectory(admin, REALM, directoryOf(uni), "secret-of-the-test");
  await applyDirectory(admin, REALM, directoryOf(clinic), null);
  t.same(await drift(corp, uni, clinic), []);
  for (const bad of ["{}", "<x/>", "no metadata", '{"issuer":"http://x"}'])
    await t.rejects(readMetadata(admin, REALM, "oidc", bad), { code: "metadata_invalid" });
  await t.rejects(readMetadata(admin, REALM, "saml", "<x/>"), { code: "metadata_invalid" });

  for (const alias of ["resontech first sign-in", "resontech after a provider"]) {
    const flow = `/${REALM}/authentication/flows/${encodeURIComponent(alias)}/executions`;
    const [step] = await admin.get<object[]>(flow);
    await admin.put(flow, { ...step, requirement: "DISABLED" });
    await applyRealm(admin, wanted(corp, uni, clinic));
    t.same(await drift(corp, uni, clinic), [], `${alias}: in use, and made anew as well`);
  }

  await removeDirectory(admin, REALM, "uni");
  await removeDirectory(admin, REALM, "clinic");
  await removeDirectory(admin, REALM, "corp");
  await removeDirectory(admin, REALM, "corp");
  t.same(await drift(), []);
  const left = await admin.get<{ username: string }[]>(`/${REALM}/users`);
  t.same(
    left.map(({ username }) => username),
    ["local"],
    "nobody of the directory is left",
  );
});

t.test("words of its pages that somebody put there are drift and go", async (t) => {
  await admin.post(`/${REALM}/localization/en`, {
    loginAccountTitle: "Send your password to …",
    invalidUserMessage: "x",
  });
  t.match(await applyRealm(admin, wanted()), [{ kind: "text" }, { kind: "text" }]);
  t.same(await drift(), []);
});

async function tried(
  connection: LdapConnection,
  person: { username: string; password: string | null } | null = null,
  options: { caPem?: string | null; secret?: string } = {},
) {
  const found = (await readDirectories(admin, REALM)).find(({ name }) => name === connection.name);
  return await tryStorage(admin, REALM, connection, {
    storageId: found?.id ?? null,
    secret: options.secret ?? null,
    caPem: options.caPem === undefined ? readFileSync(slapd.caFile, "utf8") : options.caPem,
    person,
  });
}

async function faults(...asked: Parameters<typeof tried>) {
  return await faultsOf(tried(...asked));
}

async function faultsOf(checks: ReturnType<typeof tried>): Promise<string[]> {
  return (await checks).flatMap(({ fault }) => (fault === null ? [] : [fault]));
}
