/** How callers and verdicts stand in the audit log: the one place where an event's actor is made. */
import type { Actor } from "@resontech/contracts/audit-event";
import type { Decision } from "@resontech/contracts/policies";
import {
  COORDINATOR,
  type Caller,
  isUserCaller,
  type KeyCaller,
  type NodeCaller,
  type ServiceCaller,
} from "./caller.ts";
import type { Verdict } from "./decide.ts";

/** Hides a personal value: `committer()` of `@resontech/audit/producer`. */
type CommitPerson = (field: "actor.sid", value: string) => string;

/** @param caller null for whoever has shown no valid credential */
export function actorOf(caller: KeyCaller | ServiceCaller | NodeCaller | null): Actor;
export function actorOf(caller: Caller | null, commit: CommitPerson): Actor;
export function actorOf(caller: Caller | null, commit?: CommitPerson): Actor {
  switch (caller?.kind) {
    case undefined:
      return { sub: "anonymous", kind: "anonymous" };
    case "key":
      return { sub: caller.keyId, kind: "key" };
    case "session": {
      const roles = [...new Set(caller.grants.map(({ role }) => role))].sort();
      return {
        sub: caller.userId,
        kind: "user",
        roles,
        acr: caller.signIn.acr,
        sid: commit!("actor.sid", caller.sessionId),
      };
    }
    case "service-account":
      return {
        ...{ sub: caller.userId, kind: "user", roles: ["service-account"] },
        azp: caller.clientId,
      };
    case "service":
      return { sub: caller.service, kind: "system" };
    case "node":
      return { sub: caller.node, kind: "node" };
    case "operator":
      return {
        ...{ sub: "operator", kind: "operator" },
        ...(caller.person === null ? {} : { sid: commit!("actor.sid", caller.person) }),
      };
  }
}

/** Who did what Keycloak saw: a person whose credentials were right, whoever tried, or Keycloak's own administration. */
export function actorAtKeycloak(
  did: "person" | "somebody" | "admin",
  userId: string | null,
): Actor {
  if (did === "admin") return { sub: "keycloak", kind: "system" };
  return did === "person" && userId !== null ? { sub: userId, kind: "user" } : actorOf(null);
}

/** What the coordinator decides by itself, whoever asked for what led to it. */
export const COORDINATOR_ACTOR = actorOf(COORDINATOR);

/** The user for whom a program acted: `on_behalf_of`. A person who acts is the actor. */
export function behalfOf(caller: Caller | null): string | undefined {
  return caller?.kind === "key" ? caller.userId : undefined;
}

/** Names the project that the caller came with; empty where it came with none. */
export function projectDetail(caller: Caller | null): { project?: string } {
  const project = caller !== null && isUserCaller(caller) ? caller.projectId : "";
  return project.length > 0 ? { project } : {};
}

/** @param policySet digest of the policies that decided */
export function decisionOf({ effect, policies, policySet }: Verdict): Decision {
  return { effect, policy_set_sha256: policySet, policy_ids: [...policies] };
}
