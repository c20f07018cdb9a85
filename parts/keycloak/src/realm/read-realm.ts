/** Reads of Keycloak what the realm's definition speaks of, in the definition's own form. */
import { SERVICE_ACCOUNT_CLIENT_PREFIX } from "@resontech/contracts/http-service-accounts";
import type { KeycloakAdmin } from "../admin-api.ts";
import { readDirectories } from "../directories/read-directories.ts";
import {
  type FlowStep,
  LOCALE,
  type RealmClient,
  type RealmDefinition,
  type RealmFlow,
} from "./realm-definition.ts";

/** Keycloak's ids of what a change must name. */
export type RealmIds = {
  clients: Map<string, string>;
  flows: Map<string, string>;
  mappers: Map<string, Map<string, string>>;
  serviceUsers: Map<string, string>;
};
export type ActualRealm = { realm: RealmDefinition; ids: RealmIds };

type Named = { id: string; name: string };
type ClientRow = {
  id: string;
  clientId: string;
  protocolMappers?: (Named & Mapper)[];
  authenticationFlowBindingOverrides?: { browser?: string };
} & Record<string, unknown>;
type Mapper = { name: string } & Record<string, unknown>;
type Execution = {
  level: number;
  requirement: Extract<FlowStep, { use: string }>["requirement"];
  displayName: string;
  authenticationFlow?: boolean;
  authenticationConfig?: string;
  providerId?: string;
};

/** Reads what the definition speaks of; null when there is no such realm. */
export async function readRealm(admin: KeycloakAdmin, realm: string): Promise<ActualRealm | null> {
  const settings = await admin.find<Record<string, unknown>>(`/${realm}`);
  if (settings === null) return null;
  const [roles, flows, rows, userProfile, texts, mapperPolicy] = await Promise.all([
    admin.get<{ name: string; description?: string }[]>(`/${realm}/roles`),
    admin.get<{ id: string; alias: string; builtIn: boolean }[]>(`/${realm}/authentication/flows`),
    admin.get<ClientRow[]>(`/${realm}/clients?max=1000`),
    admin.get<Record<string, unknown>>(`/${realm}/users/profile`),
    admin.get<Record<string, string>>(`/${realm}/localization/${LOCALE}`),
    readMapperPolicy(admin, realm),
  ]);
  const ids: RealmIds = {
    clients: new Map(rows.map(({ clientId, id }) => [clientId, id])),
    flows: new Map(flows.map(({ alias, id }) => [alias, id])),
    mappers: new Map(
      rows.map(({ clientId, protocolMappers }) => [
        clientId,
        new Map((protocolMappers ?? []).map(({ name, id }) => [name, id])),
      ]),
    ),
    serviceUsers: new Map(),
  };
  const management = ids.clients.get("realm-management") ?? "";
  const aliases = new Map(flows.map(({ alias, id }) => [id, alias]));
  const clients: RealmClient[] = [];
  for (const row of rows) {
    const { id, clientId, protocolMappers, ...rest } = row;
    // The definition says nothing of them, and there may be many.
    if (clientId.startsWith(SERVICE_ACCOUNT_CLIENT_PREFIX)) continue;
    const scoped = await admin.get<Named[]>(`/${realm}/clients/${id}/scope-mappings/realm`);
    const inScope = await admin.get<Named[]>(
      `/${realm}/clients/${id}/scope-mappings/clients/${management}`,
    );
    let manages: string[] = [];
    if (row["serviceAccountsEnabled"] === true) {
      const user = await admin.get<{ id: string }>(`/${realm}/clients/${id}/service-account-user`);
      ids.serviceUsers.set(clientId, user.id);
      manages = (
        await admin.get<Named[]>(`/${realm}/users/${user.id}/role-mappings/clients/${management}`)
      ).map(({ name }) => name);
    }
    clients.push({
      clientId,
      settings: { clientId, ...rest },
      mappers: (protocolMappers ?? []).map(({ id: _id, ...mapper }) => mapper),
      roles: scoped.map(({ name }) => name),
      manages,
      managesInScope: inScope.map(({ name }) => name),
      browserFlow: aliases.get(row.authenticationFlowBindingOverrides?.browser ?? "") ?? null,
    });
  }
  const own: RealmFlow[] = [];
  for (const { alias, builtIn } of flows)
    if (!builtIn) own.push({ alias, steps: await readSteps(admin, realm, alias) });
  return {
    realm: {
      ...{ realm, settings, userProfile, texts, clients, flows: own },
      registrableMappers: mapperPolicy?.config[MAPPER_TYPES] ?? null,
      roles: roles.map(({ name, description }) => ({ name, description: description ?? "" })),
      directories: await readDirectories(admin, realm),
    },
    ids,
  };
}

/** What holds whoever registers clients by a token of their own to some kinds of mapper. */
export const MAPPER_POLICY = {
  name: "Allowed Protocol Mapper Types",
  providerId: "allowed-protocol-mappers",
  providerType: "org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy",
  subType: "authenticated",
} as const;
export const MAPPER_TYPES = "allowed-protocol-mapper-types";

type MapperPolicy = {
  id: string;
  providerId: string;
  subType?: string;
  config: Record<string, string[]>;
};

/** Reads the policy as Keycloak has it; null where there is none. */
export async function readMapperPolicy(
  admin: KeycloakAdmin,
  realm: string,
): Promise<MapperPolicy | null> {
  const { providerId, providerType, subType } = MAPPER_POLICY;
  const all = await admin.get<MapperPolicy[]>(`/${realm}/components?type=${providerType}`);
  return all.find((one) => one.providerId === providerId && one.subType === subType) ?? null;
}

async function readSteps(admin: KeycloakAdmin, realm: string, alias: string): Promise<FlowStep[]> {
  const executions = await admin.get<Execution[]>(
    `/${realm}/authentication/flows/${encodeURIComponent(alias)}/executions`,
  );
  const top: FlowStep[] = [];
  const open: FlowStep[][] = [top];
  for (const { level, requirement, displayName, ...execution } of executions) {
    const into = open[level] ?? top;
    if (execution.authenticationFlow === true) {
      const steps: FlowStep[] = [];
      into.push({ flow: displayName, requirement, steps });
      open[level + 1] = steps;
      continue;
    }
    const config =
      execution.authenticationConfig === undefined
        ? null
        : await admin.get<{ config: Record<string, string> }>(
            `/${realm}/authentication/config/${execution.authenticationConfig}`,
          );
    into.push({
      ...{ use: execution.providerId ?? "", requirement },
      ...(config === null ? {} : { config: config.config }),
    });
  }
  return top;
}
