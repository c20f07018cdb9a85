/** One caller of each kind, and of each role, proof and service: all of the user u1, the project p1 or the node n1. */
import { KEY_SCOPES, type KeyScope } from "@resontech/contracts/http-identity";
import { SERVICE_ACCOUNT_SCOPES } from "@resontech/contracts/http-service-accounts";
import type {
  Caller,
  KeyCaller,
  ServiceAccountCaller,
  SessionCaller,
} from "../../src/authorization/caller.ts";
import {
  APPLIANCE_ROLES,
  type ApplianceRole,
  NODE_PROOFS,
  PROJECT_ROLES,
  type ProjectRole,
  SERVICES,
} from "../../src/authorization/roles.ts";

export const keyOf = (
  scopes: readonly KeyScope[] = KEY_SCOPES,
  duty: ApplianceRole | null = null,
  role: ProjectRole = "project-lead",
): KeyCaller => ({
  ...{ kind: "key", keyId: "k1", userId: "u1", projectId: "p1" },
  ...{ role, scopes, holds: duty === null ? [role] : [duty, role] },
});

export const sessionOf = (...grants: SessionCaller["grants"]): SessionCaller => ({
  ...{ kind: "session", sessionId: "s1", userId: "u1", projectId: "p1" },
  ...{ grants, holds: grants.map(({ role }) => role), signIn: { acr: "1", at: 1 } },
});

export const SERVICE_ACCOUNT: ServiceAccountCaller = {
  ...{ kind: "service-account", userId: "u1", projectId: "p1" },
  ...{ clientId: "service-account-u1", scopes: SERVICE_ACCOUNT_SCOPES, holds: ["project-lead"] },
};

export const onAppliance = (role: ApplianceRole) => sessionOf({ role, projectId: null });
export const inProject = (role: ProjectRole) => sessionOf({ role, projectId: "p1" });

export const PEOPLE: readonly (readonly [string, Caller])[] = [
  ...APPLIANCE_ROLES.map((role) => [role, onAppliance(role)] as const),
  ...PROJECT_ROLES.map(
    (role) => [role, role === "service-account" ? SERVICE_ACCOUNT : inProject(role)] as const,
  ),
];

export const OTHERS: readonly (readonly [string, Caller])[] = [
  ...SERVICES.map((service) => [service, { kind: "service", service }] as const),
  ...NODE_PROOFS.map((by) => [`node by ${by}`, { kind: "node", node: "n1", by }] as const),
  ["operator", { kind: "operator", person: null }],
];
