/** Against the real Keycloak, auditd and OpenLDAP, as the appliance's own client. */
import { generateKeyPairSync } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import t from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { RunningKeycloak } from "@resontech/house/running-keycloak";
import { LDAP_READER, RunningSlapd } from "@resontech/keycloak/testing/running-slapd";
import { readConnections, writeDirectoryCa } from "../../src/config/connections.ts";
import {
  connectDirectory,
  disconnectDirectory,
  tryConnected,
} from "../../src/keycloak/connect-directory.ts";
import { applianceAdmin, keycloakClient } from "../../src/keycloak/appliance-admin.ts";
import { ownRealm, REALM_CLIENTS } from "../../src/keycloak/own-realm.ts";
import { pinRealmKeys } from "../../src/keycloak/pin-step-up-keys.ts";
import { compareRealm } from "../../src/keycloak/realm-watch.ts";
import { replaceBootstrapAdmin } from "../../src/keycloak/replace-bootstrap-admin.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { auditdWithSocket } from "../audit/auditd-with-socket.ts";

t.setTimeout(600_000);
const slapd = await RunningSlapd.start();
t.teardown(() => slapd[Symbol.asyncDispose]());
await slapd.addPerson("erika", "erika-of-the-directory");
const keycloak = await RunningKeycloak.start({ trusted: [slapd.caFile] });
t.teardown(() => keycloak[Symbol.asyncDispose]());

const root = temporaryFolder(t);
const layout = new Layout(root, `connect-${process.pid}`);
t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
const auditd = auditdWithSocket(t, root, {
  name: "appliance",
  socket: layout.run("audit", "appliance", "sock"),
});
await auditd.start();

const context = {
  layout,
  config: {
    name: "localhost",
    ports: { api: keycloak.address.port, keycloak: keycloak.address.port },
  } as ApplianceConfig,
} as PartContext;
furnish();
await replaceBootstrapAdmin(context);
await applyRealm(await applianceAdmin(context), ownRealm(context));

t.test("whose signatures are believed is pinned by the appliance's own client", async (t) => {
  const file = layout.stepUpKeysFile;
  t.same(await pinRealmKeys(context), { added: 0, retired: 0 }, "nobody has signed in yet");
  t.equal(existsSync(file), false);
  // As its first signature does.
  const admin = await applianceAdmin(context);
  const { id } = await admin.get<{ id: string }>("/resontech");
  await admin.post("/resontech/components", {
    ...{ name: "es256", providerId: "ecdsa-generated", parentId: id },
    providerType: "org.keycloak.keys.KeyProvider",
    config: { priority: ["100"], ecdsaEllipticCurveKey: ["P-256"] },
  });
  t.same(await pinRealmKeys(context), { added: 1, retired: 0 });
  t.equal(statSync(file).mode & 0o777, 0o444);
  t.match(JSON.parse(readFileSync(file, "utf8")), {
    issuer: `${keycloak.address.origin}/realms/resontech`,
    audience: "resontech-dashboard",
    ...{ keys: [{ notAfter: null }], holders: { "security-officer": [] } },
  });
  t.same(await pinRealmKeys(context), { added: 0, retired: 0 });
});

t.test("connected, tried and disconnected on record, and never a drift", async (t) => {
  const corp = slapd.connection("corp");
  await connectDirectory(context, corp, LDAP_READER.password);
  t.same(readConnections(layout).connections, [corp]);
  t.same(await compareRealm(context), []);
  const file = readFileSync(layout.identityFile, "utf8");
  t.notOk(file.includes(LDAP_READER.password), "the secret is Keycloak's alone");
  const person = { username: "erika", password: "erika-of-the-directory" };
  t.same(
    (await tryConnected(context, "corp", person)).filter(({ fault }) => fault !== null),
    [],
  );
  await connectDirectory(context, { ...corp, readAgainMs: 2_000 }, null);
  t.same(await compareRealm(context), []);
  await disconnectDirectory(context, "corp");
  t.same(await compareRealm(context), []);
  await t.rejects(tryConnected(context, "corp", null), { code: "connection_unknown" });
  await auditd.stop();
  const leaves = (await readLeaves(auditd.logDir)).filter(
    ({ type }) => type === "admin.identity.connection",
  );
  t.match(
    leaves.filter(({ phase }) => phase === "requested").map(({ detail }) => detail),
    ["connected", "tried", "connected", "disconnected"].map((change) => ({
      ...{ change, kind: "ldap", name: "corp" },
    })),
  );
  t.equal(leaves.filter(({ phase }) => phase === "completed").length, 4);
});

/** What a first boot lays down, as far as Keycloak's clients need it. */
function furnish(): void {
  const keyOf = () =>
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
      ...{ type: "pkcs8", format: "pem" },
    });
  for (const folder of [
    ...[layout.secrets("appliance"), layout.secrets("coordinator"), layout.secrets("keycloak")],
    ...[layout.directoryCa(), layout.caDir, layout.release("app")],
  ])
    mkdirSync(folder, { recursive: true });
  writeFileSync(layout.rootCert, keycloak.address.caPem);
  const { certFile, keyFile } = keycloakClient(layout);
  cpSync(keycloak.certFile, certFile);
  cpSync(keycloak.keyFile, keyFile);
  writeFileSync(layout.secrets("appliance", "keycloak-admin.key"), keyOf());
  writeFileSync(layout.secrets("keycloak", "bootstrap-password"), "bootstrap-of-the-test");
  for (const { keyFile } of Object.values(REALM_CLIENTS))
    writeFileSync(layout.secrets("coordinator", keyFile), keyOf());
  cpSync(
    join(import.meta.dirname, "..", "..", "..", "policies"),
    layout.release("app", "policies"),
    { recursive: true },
  );
  writeDirectoryCa(layout, "corp", readFileSync(slapd.caFile, "utf8"));
}
