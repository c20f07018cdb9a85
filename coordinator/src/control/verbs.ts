/** What each verb of the control socket does, and the audit event that it leaves. */
import { randomUUID } from "node:crypto";
import type { EventDetail, EventType, OperationType } from "@resontech/contracts/audit-catalogue";
import type { EventObject } from "@resontech/contracts/audit-event";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { ControlReply, ControlRequest, ControlVerb } from "@resontech/contracts/control-protocol";
import { auditedOperation, type FailureOutcome, type OpenOperation } from "../audited-operation.ts";
import { ApiError } from "../api-error.ts";
import { findDefaultProject, findUser, setSiteFiles } from "../identity/bucket-store.ts";
import { addUser, type AddUserDeps } from "../identity/add-user.ts";
import type { RegistryPasswords } from "../identity/registry-passwords.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { MaintenanceReply } from "../nodes/maintenance.ts";
import type { ControlHandler } from "./control-server.ts";

export type ControlDeps = AddUserDeps & {
  kernel: Pick<Kernel, "status">;
  health: () => Promise<CoordinatorHealth>;
  passwords: RegistryPasswords;
  /** A one-use token for a node, stored as its hash. `expiresAt` in Unix milliseconds. */
  joinToken: (node: string, ttlS: number) => Promise<{ token: string; expiresAt: number }>;
  /** Leases outlive a planned stop of so many seconds; 0 ends it. */
  maintain: (forS: number) => Promise<MaintenanceReply>;
};

/** Every verb is here, or the types fail. */
export const CONTROL_AUDIT: Record<ControlVerb, { event: EventType } | { none: string }> = {
  status: { none: "status" },
  "add-user": { event: "iam.user.create" },
  "join-token": { event: "iam.node.join-token" },
  maintenance: { event: "admin.maintenance" },
  "registry-login": { event: "admin.control" },
  "site-files": { event: "admin.control" },
};

export function controlHandler(deps: ControlDeps): ControlHandler {
  return (request) => dispatch(deps, request);
}

async function dispatch(deps: ControlDeps, request: ControlRequest): Promise<ControlReply> {
  switch (request.verb) {
    case "status":
      return { ok: true, verb: "status", ...deps.kernel.status(), health: await deps.health() };
    case "add-user": {
      const added = await addUser(deps, request.username, request.admin);
      return {
        ...{ ok: true, verb: "add-user", userId: added.userId, username: request.username, project: added.projectId },
        ...{ bucketAlias: added.bucket, platformKey: added.platformKey },
        ...{ accessKeyId: added.accessKeyId, secretAccessKey: added.secretAccessKey },
      };
    }
    case "join-token": {
      const { token, expiresAt } = await byOperator(
        deps,
        "iam.node.join-token",
        { kind: "node", id: request.node },
        { ttl_s: request.ttlS },
        () => deps.joinToken(request.node, request.ttlS),
      );
      return { ok: true, verb: "join-token", token, expiresAt: new Date(expiresAt).toISOString() };
    }
    case "maintenance": {
      const { until, untold } = await byOperator(
        deps,
        "admin.maintenance",
        { kind: "appliance", id: "appliance" },
        { until_s: Math.floor(deps.now() / 1000) + request.forS },
        () => deps.maintain(request.forS),
      );
      return { ok: true, verb: "maintenance", until: until === null ? null : new Date(until).toISOString(), untold };
    }
    case "site-files": {
      const user = findUser(deps.read, request.username);
      const project = user === null ? null : findDefaultProject(deps.read, user.id);
      if (project === null) throw new ApiError("user_unknown", "there is no user of this name");
      const { allowed } = request;
      await byOperator(
        deps,
        "admin.control",
        { kind: "appliance", id: "appliance" },
        { verb: request.verb, project, allowed },
        () => deps.commit.run((db) => setSiteFiles(db, project, allowed)),
      );
      return { ok: true, verb: "site-files", project, allowed };
    }
    case "registry-login": {
      const login = await byOperator(
        deps,
        "admin.control",
        { kind: "appliance", id: "appliance" },
        { verb: request.verb },
        async () => deps.passwords.issue(request.repository, {}),
      );
      return { ok: true, verb: "registry-login", ...login };
    }
  }
}

function byOperator<T extends OperationType, R>(
  deps: ControlDeps,
  type: T,
  object: EventObject,
  detail: EventDetail<T>,
  effect: (operation: OpenOperation) => Promise<R>,
): Promise<R> {
  const draft = { type, op: randomUUID(), actor: { sub: "operator", kind: "operator" } as const, object, detail };
  return auditedOperation(deps, draft, [], failureOutcome, effect);
}

function failureOutcome(error: unknown): FailureOutcome {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "internal_error";
  return { phase: "failed", code };
}
