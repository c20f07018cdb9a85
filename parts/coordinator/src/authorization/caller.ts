/** Who asks. Authentication makes a caller, at the edge where the credential arrives; nothing changes it afterwards. */
import type { KeyScope } from "@resontech/contracts/http-identity";
import type { ApplianceRole, NodeProof, ProjectRole, Role, Service } from "./roles.ts";

/** A platform key: a program that acts for a user, in the one project that the key was minted for. */
export type KeyCaller = {
  kind: "key";
  keyId: string;
  userId: string;
  projectId: string;
  /** What the user is in that project now: the key does no more than that. */
  role: ProjectRole;
  scopes: readonly KeyScope[];
  /** All that the user holds anywhere: duties bind the person behind each credential. */
  holds: readonly Role[];
};

/** A role of a person: on the whole appliance, or in one project. */
export type RoleGrant =
  | { role: ApplianceRole; projectId: null }
  | { role: ProjectRole; projectId: string };

/** A person who signed in at the identity provider. */
export type SessionCaller = {
  kind: "session";
  /** Of our own table of sessions; the audit log holds a commitment to it. */
  sessionId: string;
  userId: string;
  /** The project that the request is about: the one chosen on the page. */
  projectId: string;
  grants: readonly RoleGrant[];
  /** All that the person holds anywhere, also what this sign-in does not show: a shell by password alone uses no duty, and is bound by it. */
  holds: readonly Role[];
  /** How strongly the person signed in, `acr` of the identity token, and when, in Unix milliseconds. */
  signIn: { acr: string; at: number };
};

/** A program of one project that signed in at the identity provider by a key of its own: a service account. It acts for nobody else. */
export type ServiceAccountCaller = {
  kind: "service-account";
  /** Of the account: it owns its jobs as a person does. */
  userId: string;
  projectId: string;
  /** At the identity provider. */
  clientId: string;
  scopes: readonly KeyScope[];
  /** All that the person holds who answers for the account: who made it, or the lead who adopted it. */
  holds: readonly Role[];
};

/** A process of the appliance, by the socket that only it can open. */
export type ServiceCaller = { kind: "service"; service: Service };

/** The agent of a node. */
export type NodeCaller = { kind: "node"; node: string; by: NodeProof };

/** Whoever is root on the appliance's host. */
export type OperatorCaller = {
  kind: "operator";
  /** The login, and whom sudo ran the command for where that is another; null where nobody signed in. */
  person: string | null;
};

export type Caller =
  | KeyCaller
  | SessionCaller
  | ServiceAccountCaller
  | ServiceCaller
  | NodeCaller
  | OperatorCaller;

/** Callers who act for a user of the appliance: all that routes serve. */
export type UserCaller = KeyCaller | SessionCaller | ServiceAccountCaller;

const USER_KINDS: ReadonlySet<Caller["kind"]> = new Set(["key", "session", "service-account"]);

export const COORDINATOR: ServiceCaller = { kind: "service", service: "coordinator" };
export const S3_FRONT: ServiceCaller = { kind: "service", service: "s3-front" };
export const PROMETHEUS: ServiceCaller = { kind: "service", service: "prometheus" };

export function isUserCaller(caller: Caller): caller is UserCaller {
  return USER_KINDS.has(caller.kind);
}

/** The caller in another project than the one that is meant where none is named; null where he is not in it. */
export function callerIn<C extends UserCaller>(caller: C, projectId: string): C | null {
  if (caller.kind !== "session") return caller.projectId === projectId ? caller : null;
  return caller.grants.some((grant) => grant.projectId === projectId)
    ? { ...caller, projectId }
    : null;
}

/** What requests are counted by: two users behind one address don't share a limit. Null: by the address. */
export function credentialOf(caller: Caller | null): string | null {
  if (caller?.kind === "key") return caller.keyId;
  if (caller?.kind === "service-account") return caller.userId;
  return caller?.kind === "session" ? caller.sessionId : null;
}
