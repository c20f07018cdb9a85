/** Makes the realm as its definition has it. What is right is not touched; safe to repeat from any point. */
import type { KeycloakAdmin } from "../admin-api.ts";
import { applyDirectory, removeDirectory } from "../directories/apply-directory.ts";
import { type Drift, realmDrift } from "./decisions/realm-drift.ts";
import {
  type ActualRealm,
  MAPPER_POLICY,
  MAPPER_TYPES,
  readMapperPolicy,
  readRealm,
} from "./read-realm.ts";
import {
  type FlowStep,
  LOCALE,
  type RealmClient,
  type RealmDefinition,
  RealmFileError,
  type RealmFlow,
} from "./realm-definition.ts";

/** The flow that Keycloak brings; bound for the moment in which ours is made anew. It gives no level of authentication: nobody steps up by it. */
const BUILT_IN_BROWSER_FLOW = "browser";

const FIRST_SIGN_IN = "firstBrokerLoginFlowAlias";
const BUILT_IN_FIRST_SIGN_IN_FLOW = "first broker login";
const AFTER_PROVIDER = "postBrokerLoginFlowAlias";

/** Answers with what differed before. @throws DirectorySecretMissing of a connected directory that Keycloak has lost; all else is applied then */
export async function applyRealm(admin: KeycloakAdmin, want: RealmDefinition): Promise<Drift[]> {
  let actual = await readRealm(admin, want.realm);
  const drift = realmDrift(want, actual?.realm ?? null);
  if (drift.length === 0) return drift;
  if (actual === null) {
    const { browserFlow: _later, ...settings } = want.settings;
    await admin.post("", { ...settings, realm: want.realm, enabled: false });
    await admin.renew();
    actual = await readRealm(admin, want.realm);
    if (actual === null) throw new Error(`keycloak has no realm ${want.realm} after making it`);
  }
  const left = realmDrift(want, actual.realm);
  const change: Change = { admin, want, actual };
  await applyRoles(change, left);
  await applyFlows(change, left);
  if (left.some(({ kind }) => kind === "realm"))
    await admin.put(`/${want.realm}`, { realm: want.realm, ...want.settings });
  if (left.some(({ kind }) => kind === "profile"))
    await admin.put(`/${want.realm}/users/profile`, want.userProfile);
  if (left.some(({ what }) => what === "registrableMappers")) await applyMapperPolicy(change);
  await applyTexts(change, left);
  await applyClients(change);
  await applyDirectories(change);
  return drift;
}

type Change = { admin: KeycloakAdmin; want: RealmDefinition; actual: ActualRealm };

/** Somebody else's words on these pages could ask for passwords. */
async function applyTexts({ admin, want }: Change, drift: readonly Drift[]): Promise<void> {
  const drifted = ofKind(drift, "text");
  if (drifted.length === 0) return;
  const path = `/${want.realm}/localization/${LOCALE}`;
  for (const { what } of drifted)
    if (!(what in want.texts)) await admin.delete(`${path}/${encodeURIComponent(what)}`);
  await admin.post(path, want.texts);
}

async function applyMapperPolicy({ admin, want, actual }: Change): Promise<void> {
  const known = await readMapperPolicy(admin, want.realm);
  const policy = {
    ...{ ...MAPPER_POLICY, parentId: actual.realm.settings["id"] },
    config: { [MAPPER_TYPES]: want.registrableMappers ?? [] },
  };
  const path = `/${want.realm}/components`;
  if (known === null) await admin.post(path, policy);
  else await admin.put(`${path}/${known.id}`, { ...policy, id: known.id });
}

async function applyRoles({ admin, want }: Change, drift: readonly Drift[]): Promise<void> {
  for (const { name, what } of ofKind(drift, "role")) {
    const path = `/${want.realm}/roles`;
    const role = want.roles.find((one) => one.name === name);
    if (role === undefined) await admin.delete(`${path}/${encodeURIComponent(name)}`);
    else if (what === "missing") await admin.post(path, role);
    else await admin.put(`${path}/${encodeURIComponent(name)}`, role);
  }
}

async function applyFlows(change: Change, drift: readonly Drift[]): Promise<void> {
  const { admin, want, actual } = change;
  const drifted = [...new Set(ofKind(drift, "flow").map(({ name }) => name))];
  for (const alias of drifted) {
    const id = actual.ids.flows.get(alias);
    if (id !== undefined) {
      if (actual.realm.settings["browserFlow"] === alias)
        await admin.put(`/${want.realm}`, {
          realm: want.realm,
          browserFlow: BUILT_IN_BROWSER_FLOW,
        });
      await releaseFlow(change, alias);
      await admin.delete(`/${want.realm}/authentication/flows/${id}`);
    }
    const flow = want.flows.find((one) => one.alias === alias);
    if (flow !== undefined) await makeFlow(change, flow);
  }
  if (drifted.length > 0)
    await admin.put(`/${want.realm}`, {
      realm: want.realm,
      browserFlow: want.settings["browserFlow"],
    });
}

/** Keycloak deletes no flow that something names. Until it is put right again, nobody signs in by that provider, or by that client. */
async function releaseFlow({ admin, want, actual }: Change, alias: string): Promise<void> {
  for (const { clientId, browserFlow, settings } of actual.realm.clients)
    if (browserFlow === alias)
      await admin.put(`/${want.realm}/clients/${actual.ids.clients.get(clientId)}`, {
        ...settings,
        ...{ enabled: false, ...boundTo("") },
      });
  for (const { kind, name, settings } of actual.realm.directories) {
    const { [FIRST_SIGN_IN]: first, [AFTER_PROVIDER]: after, ...others } = settings;
    if (kind === "broker" && (first === alias || after === alias))
      await admin.put(`/${want.realm}/identity-provider/instances/${name}`, {
        ...others,
        ...{ enabled: false, [FIRST_SIGN_IN]: BUILT_IN_FIRST_SIGN_IN_FLOW },
      });
  }
}

async function makeFlow(change: Change, { alias, steps }: RealmFlow): Promise<void> {
  const id = await makeFlowRow(change, alias, true);
  await makeSteps(change, id, steps);
}

async function makeSteps(change: Change, parent: string, steps: FlowStep[]): Promise<void> {
  const { admin, want } = change;
  for (const [at, step] of steps.entries()) {
    const common = { parentFlow: parent, requirement: step.requirement, priority: (at + 1) * 10 };
    const path = `/${want.realm}/authentication/executions`;
    if ("flow" in step) {
      const flowId = await makeFlowRow(change, step.flow, false);
      await admin.post(path, { ...common, authenticatorFlow: true, flowId });
      await makeSteps(change, flowId, step.steps);
      continue;
    }
    const execution = await admin.post(path, {
      ...common,
      authenticatorFlow: false,
      authenticator: step.use,
    });
    if (step.config !== undefined)
      await admin.post(`${path}/${execution}/config`, {
        alias: `${parent}-${step.use}`,
        config: step.config,
      });
  }
}

async function makeFlowRow(
  { admin, want }: Change,
  alias: string,
  topLevel: boolean,
): Promise<string> {
  const id = await admin.post(`/${want.realm}/authentication/flows`, {
    ...{ alias, topLevel, providerId: "basic-flow", builtIn: false },
  });
  if (id === null) throw new Error(`keycloak has a flow ${alias} that it did not list`);
  return id;
}

/** @param flow id; empty: the realm's own. Keycloak keeps what is not named. */
function boundTo(flow: string) {
  return { authenticationFlowBindingOverrides: { browser: flow } };
}

/** Compared anew: a flow that was made again is no longer the one that a client named. */
async function applyClients({ admin, want }: Change): Promise<void> {
  const actual = await readRealm(admin, want.realm);
  const drift = realmDrift(want, actual?.realm ?? null);
  const drifted = new Set(ofKind(drift, "client").map(({ name }) => name));
  if (drifted.size === 0 || actual === null) return;
  for (const clientId of drifted) {
    const client = want.clients.find((one) => one.clientId === clientId);
    const known = actual.ids.clients.get(clientId);
    if (client === undefined) {
      if (known !== undefined) await admin.delete(`/${want.realm}/clients/${known}`);
      continue;
    }
    const settings = { ...client.settings, ...boundTo(flowIdOf(actual, client.browserFlow)) };
    if (known === undefined) await admin.post(`/${want.realm}/clients`, settings);
    else await admin.put(`/${want.realm}/clients/${known}`, settings);
  }
  // What a client becomes with its settings, like its own user, is only there now.
  const made = await readRealm(admin, want.realm);
  if (made === null) throw new Error(`keycloak lost the realm ${want.realm}`);
  for (const client of want.clients)
    if (drifted.has(client.clientId)) await applyClientParts({ admin, want, actual: made }, client);
}

function flowIdOf({ ids }: ActualRealm, alias: string | null): string {
  if (alias === null) return "";
  const id = ids.flows.get(alias);
  if (id === undefined) throw new RealmFileError(`policies/realm.json has no flow ${alias}`);
  return id;
}

/** Mappers and roles, which have addresses of their own. */
async function applyClientParts(
  { admin, want: { realm }, actual }: Change,
  client: RealmClient,
): Promise<void> {
  const id = actual.ids.clients.get(client.clientId);
  const there = actual.realm.clients.find(({ clientId }) => clientId === client.clientId);
  if (id === undefined || there === undefined)
    throw new Error(`keycloak has no client ${client.clientId} after making it`);
  const path = `/${realm}/clients/${id}`;
  if (client.mappers !== undefined) {
    for (const mapper of actual.ids.mappers.get(client.clientId)?.values() ?? [])
      await admin.delete(`${path}/protocol-mappers/models/${mapper}`);
    for (const mapper of client.mappers)
      await admin.post(`${path}/protocol-mappers/models`, mapper);
  }
  const set = (want: string[] | undefined, have: string[] | undefined, of: string, to: string) =>
    want === undefined ? undefined : setMembers(admin, { want, have: have ?? [], of }, to);
  await set(client.roles, there.roles, `/${realm}/roles`, `${path}/scope-mappings/realm`);
  const management = actual.ids.clients.get("realm-management");
  const managed = `/${realm}/clients/${management}/roles`;
  await set(
    ...([client.managesInScope, there.managesInScope] as const),
    managed,
    `${path}/scope-mappings/clients/${management}`,
  );
  const user = actual.ids.serviceUsers.get(client.clientId);
  if (user !== undefined)
    await set(
      ...([client.manages, there.manages] as const),
      managed,
      `/${realm}/users/${user}/role-mappings/clients/${management}`,
    );
}

/** @param of where all roles are listed @param to where those that are given stand */
async function setMembers(
  admin: KeycloakAdmin,
  { want, have, of }: { want: string[]; have: string[]; of: string },
  to: string,
): Promise<void> {
  const all = await admin.get<{ id: string; name: string }[]>(of);
  const missing = all.filter(({ name }) => want.includes(name) && !have.includes(name));
  const extra = all.filter(({ name }) => have.includes(name) && !want.includes(name));
  if (missing.length > 0) await admin.post(to, missing);
  if (extra.length > 0) await admin.delete(to, extra);
}

/** Compared anew: a flow that was made again is no longer the one that a provider named. */
async function applyDirectories({ admin, want }: Change): Promise<void> {
  const now = await readRealm(admin, want.realm);
  const drift = ofKind(realmDrift(want, now?.realm ?? null), "directory");
  for (const name of new Set(drift.map((one) => one.name))) {
    const directory = want.directories.find((one) => one.name === name);
    if (directory === undefined) await removeDirectory(admin, want.realm, name);
    else await applyDirectory(admin, want.realm, directory, null);
  }
}

function ofKind(drift: readonly Drift[], kind: Drift["kind"]): Drift[] {
  return drift.filter((one) => one.kind === kind);
}
