import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";

type Client = {
  clientId: string;
  enabled: boolean;
  fullScopeAllowed: boolean;
  implicitFlowEnabled: boolean;
  directAccessGrantsEnabled: boolean;
};
type Realm = {
  settings: { sslRequired: string; defaultSignatureAlgorithm: string };
  clients: { settings: Client; browserFlow?: string }[];
  flows: { alias: string }[];
  roles: { name: string }[];
};

const text = readFileSync(join(import.meta.dirname, "..", "realm.json"), "utf8");
const realm = JSON.parse(text) as Realm;

t.test("the realm holds exactly the nine roles of the design", async (t) => {
  t.same(realm.roles.map((role) => role.name).sort(), [
    "break-glass",
    "compliance-auditor",
    "data-steward",
    "platform-admin",
    "project-lead",
    "researcher",
    "security-officer",
    "service-account",
    "viewer",
  ]);
});

t.test(
  "the realm file carries no secret, no user and no variable that could stay a literal",
  async (t) => {
    t.notMatch(text, /\$\{/, "an unset ${VAR} would become the literal, guessable secret");
    t.notMatch(text, /"(secret|credentials|privateKey|bindCredential)"/);
  },
);

t.test(
  "every client is confined: no implicit flow, no password grant, no full scope",
  async (t) => {
    t.ok(realm.clients.length > 0);
    for (const { settings: client } of realm.clients) {
      if (!client.enabled) continue;
      t.equal(client.implicitFlowEnabled, false, client.clientId);
      t.equal(client.directAccessGrantsEnabled, false, client.clientId);
      t.equal(client.fullScopeAllowed, false, client.clientId);
    }
  },
);

t.test("whoever signs a shell in with a second factor has the second level", async (t) => {
  const shell = realm.clients.find(({ settings }) => settings.clientId === "resontech-cli");
  t.equal(shell?.browserFlow, "resontech shell");
  const flow = realm.flows.find(({ alias }) => alias === "resontech shell");
  const levels = JSON.stringify(flow).match(/"loa-condition-level":"(\d)"/g);
  t.same(levels, ['"loa-condition-level":"2"', '"loa-condition-level":"2"']);
  t.notMatch(JSON.stringify(flow), /auth-cookie/, "a session of the browser shows nothing anew");
});

t.test("tokens are signed with ES256, and TLS is required everywhere", async (t) => {
  t.equal(realm.settings.defaultSignatureAlgorithm, "ES256");
  t.equal(realm.settings.sslRequired, "all");
});
