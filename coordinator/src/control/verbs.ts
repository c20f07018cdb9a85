/** What each verb of the control socket does, and the audit event that it leaves. */
import type { EventType } from "@resontech/contracts/audit-catalogue";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type {
  ControlReply,
  ControlRequest,
  ControlVerb,
} from "@resontech/contracts/control-protocol";
import { ApiError } from "../api-error.ts";
import { demand } from "../authorization/demand.ts";
import type { Action } from "../authorization/actions.ts";
import { policiesInForce } from "../authorization/policies-in-force.ts";
import { findUser } from "../identity/bucket-store.ts";
import { findDefaultProject, setSiteFiles } from "../identity/project-store.ts";
import { addPerson, addUser, type AddUserDeps } from "../identity/add-user.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { RegistryPasswords } from "../identity/registry-passwords.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { requireNodeId } from "../nodes/join-tokens.ts";
import type { MaintenanceReply } from "../nodes/maintenance.ts";
import type { OperatorReply } from "@resontech/contracts/operator-control";
import { pageOfDecisions } from "../policy-trial/decision-history.ts";
import { listGroupRoles } from "../identity/directories/group-store.ts";
import {
  addImage,
  distrustKey,
  imageKeys,
  listImages,
  removeImage,
  trustKey,
} from "./image-changes.ts";
import { byOperator } from "./by-operator.ts";
import type { ControlHandler } from "./control-server.ts";
import { forgetUser, type ForgetUserDeps, tracesOf } from "./forget-user.ts";
import { mapToRole, unmapFromRoles } from "./group-changes.ts";
import {
  addProject,
  cancelJob,
  changeQuota,
  disable,
  drain,
  enable,
  evict,
  givePassword,
  remove,
  removeMember,
  renew,
  resetSecondFactor,
  restoreAdministrator,
  revoke,
  undrain,
  upgradeNodes,
} from "./operator-changes.ts";

export type ControlDeps = AddUserDeps &
  ForgetUserDeps & {
    kernel: Pick<Kernel, "status">;
    health: () => Promise<CoordinatorHealth>;
    passwords: RegistryPasswords;
    /** Null where the appliance has no identity provider. */
    approvals: Pick<Approvals, "proof"> | null;
    /** A one-use token for a node, stored as its hash. `expiresAt` in Unix milliseconds. */
    joinToken: (node: string, ttlS: number) => Promise<{ token: string; expiresAt: number }>;
    /** Leases outlive a planned stop of so many seconds; 0 ends it. */
    maintain: (forS: number) => Promise<MaintenanceReply>;
  };

/** Every verb is here, or the types fail. */
export const CONTROL_AUDIT: Record<ControlVerb, { event: EventType } | { none: string }> = {
  status: { none: "status" },
  "add-user": { event: "iam.user.create" },
  "add-person": { event: "iam.user.create" },
  "join-token": { event: "iam.node.join-token" },
  maintenance: { event: "admin.maintenance" },
  "registry-login": { event: "admin.control" },
  "site-files": { event: "admin.control" },
  "key-list": { event: "admin.control" },
  "key-renew": { event: "key.renew" },
  "key-revoke": { event: "key.revoke" },
  "user-list": { event: "admin.control" },
  "user-show": { event: "admin.control" },
  "user-password": { event: "iam.user.change" },
  "user-second-factor": { event: "iam.user.change" },
  "user-quota": { event: "iam.user.change" },
  "user-disable": { event: "iam.user.change" },
  "user-enable": { event: "iam.user.change" },
  "user-traces": { event: "admin.control" },
  "user-forget": { event: "iam.user.change" },
  "member-remove": { event: "iam.project.member" },
  "restore-administrator": { event: "iam.role.change" },
  "group-list": { none: "settings, and nothing of people" },
  "group-map": { event: "iam.group.map" },
  "group-unmap": { event: "iam.group.map" },
  "project-add": { event: "iam.project.create" },
  "project-list": { event: "admin.control" },
  "job-list": { none: "status" },
  "job-show": { none: "status" },
  "job-cancel": { event: "job.cancel" },
  "node-list": { none: "status" },
  "node-show": { none: "status" },
  "node-drain": { event: "iam.node.change" },
  "node-undrain": { event: "iam.node.change" },
  "node-evict": { event: "iam.node.change" },
  "node-remove": { event: "iam.node.change" },
  "node-upgrade": { event: "iam.node.change" },
  "image-list": { none: "status" },
  "image-add": { event: "admin.image.add" },
  "image-remove": { event: "admin.image.remove" },
  "image-keys": { none: "settings, and nothing of people" },
  "image-trust": { event: "admin.image.trust" },
  "image-distrust": { event: "admin.image.trust" },
  "approval-proof": { event: "admin.control" },
  "policy-decisions": { none: "status" },
};

/** What the operator must be allowed to do for each verb, on every row that there is. */
export const CONTROL_ACTIONS: Record<ControlVerb, Action> = {
  status: "appliance.status",
  "add-user": "user.create",
  "add-person": "user.create",
  "join-token": "node.invite",
  maintenance: "appliance.maintain",
  "registry-login": "registry.login",
  "site-files": "project.site-files",
  "key-list": "key.list",
  "key-renew": "key.renew",
  "key-revoke": "key.revoke",
  "user-list": "user.list",
  "user-show": "user.read",
  "user-password": "user.password",
  "user-second-factor": "user.password",
  "user-quota": "user.quota",
  "user-disable": "user.disable",
  "user-enable": "user.enable",
  "user-traces": "user.read",
  "user-forget": "user.disable",
  "member-remove": "membership.end",
  "restore-administrator": "user.password",
  "group-list": "identity.diff",
  "group-map": "identity.apply",
  "group-unmap": "identity.apply",
  "project-add": "project.create",
  "project-list": "membership.list",
  "job-list": "job.state.list",
  "job-show": "job.state.read",
  "job-cancel": "job.cancel",
  "node-list": "node.list",
  "node-show": "node.read",
  "node-drain": "node.drain",
  "node-undrain": "node.undrain",
  "node-evict": "node.evict",
  "node-remove": "node.remove",
  "node-upgrade": "node.upgrade",
  "image-list": "image.list",
  "image-add": "image.add",
  "image-remove": "image.remove",
  "image-keys": "image.list",
  "image-trust": "image.trust",
  "image-distrust": "image.trust",
  "approval-proof": "approval.proof",
  "policy-decisions": "policy.read",
};

export function controlHandler(deps: Omit<ControlDeps, "caller">): ControlHandler {
  return async (request, person) => {
    const caller = { kind: "operator", person } as const;
    demand(caller, CONTROL_ACTIONS[request.verb], "every");
    return await dispatch({ ...deps, caller }, request);
  };
}

async function dispatch(deps: ControlDeps, request: ControlRequest): Promise<ControlReply> {
  switch (request.verb) {
    case "status":
      return {
        ...{ ok: true, verb: "status", ...deps.kernel.status(), health: await deps.health() },
        policySet: policiesInForce().sha256,
      };
    case "add-user": {
      const added = await addUser(deps, request.username);
      await deps.people?.links.linkAll();
      return {
        ...{
          ok: true,
          verb: "add-user",
          userId: added.userId,
          username: request.username,
          project: added.projectId,
        },
        ...{ bucketAlias: added.bucket, platformKey: added.platformKey },
        ...{ accessKeyId: added.accessKeyId, secretAccessKey: added.secretAccessKey },
      };
    }
    case "add-person": {
      const { username, duty } = request;
      const userId = await addPerson(deps, username, duty);
      await deps.people?.links.linkAll();
      return { ok: true, verb: "add-person", userId, username, duty };
    }
    case "join-token": {
      requireNodeId(request.node);
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
      return {
        ok: true,
        verb: "maintenance",
        until: until === null ? null : new Date(until).toISOString(),
        untold,
      };
    }
    case "site-files": {
      const user = findUser(deps.read, request.username);
      const project = user === null ? null : findDefaultProject(deps.read, user.id);
      if (project === null) throw new ApiError("not_found", `there is no user ${request.username}`);
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
        async () => deps.passwords.issue(request.repository, {}, request.forS),
      );
      return { ok: true, verb: "registry-login", ...login };
    }
    // Names of people are read on record.
    case "key-list":
      return await looked(deps, request.verb, () => ({
        ...{ ok: true, verb: "key-list", keys: deps.views.keys(request.username ?? null) },
      }));
    case "user-list":
      return await looked(deps, request.verb, () => ({
        ok: true,
        verb: "user-list",
        users: deps.views.users(),
      }));
    case "user-show":
      return await looked(deps, request.verb, () => ({
        ...{
          ok: true,
          verb: "user-show",
          user: deps.views.user(request.username),
          keys: deps.views.keys(request.username),
        },
      }));
    case "group-list":
      return { ok: true, verb: "group-list", groups: listGroupRoles(deps.read) };
    case "group-map":
      return await mapToRole(deps, request);
    case "group-unmap":
      return await unmapFromRoles(deps, request);
    case "project-add":
      return await addProject(deps, request);
    case "project-list":
      return await looked(deps, request.verb, () => ({
        ...{ ok: true, verb: "project-list", projects: deps.views.projects() },
      }));
    case "job-list":
      return { ok: true, verb: "job-list", jobs: deps.views.jobs(request.living, request.limit) };
    case "job-show":
      return { ok: true, verb: "job-show", ...deps.views.job(request.job) };
    case "node-list":
      return {
        ...{ ok: true, verb: "node-list", nodes: deps.views.nodes() },
        releases: deps.upgrades.facts(),
      };
    case "node-show": {
      const release = deps.upgrades.facts().find(({ node }) => node === request.node) ?? null;
      return { ok: true, verb: "node-show", ...deps.views.node(request.node), release };
    }
    case "key-renew":
      return await renew(deps, request.key, request.days);
    case "key-revoke":
      return await revoke(deps, request.key);
    case "user-password":
      return await givePassword(deps, request.username);
    case "user-second-factor":
      return await resetSecondFactor(deps, request.username);
    case "user-quota":
      return await changeQuota(deps, request.username, request.bytes);
    case "user-disable":
      return await disable(deps, request.username);
    case "user-enable":
      return await enable(deps, request.username);
    case "user-traces": {
      const traces = await tracesOf(deps, request.username);
      return await looked(deps, request.verb, () => traces);
    }
    case "user-forget":
      return await forgetUser(deps, request);
    case "member-remove":
      return await removeMember(deps, request);
    case "restore-administrator":
      return await restoreAdministrator(deps, request.username);
    case "job-cancel":
      return await cancelJob(deps, request.job, request.reason);
    case "node-drain":
      return await drain(deps, request.node);
    case "node-undrain":
      return await undrain(deps, request.node);
    case "node-evict":
      return await evict(deps, request.node);
    case "node-remove":
      return await remove(deps, request.node);
    case "node-upgrade":
      return await upgradeNodes(deps, request);
    case "image-list":
      return listImages(deps);
    case "image-add":
      return await addImage(deps, request);
    case "image-remove":
      return await removeImage(deps, request.name);
    case "image-keys":
      return imageKeys(deps);
    case "image-trust":
      return await trustKey(deps, request.pem);
    case "image-distrust":
      return await distrustKey(deps, request.key);
    case "approval-proof":
      // With tokens come names of people.
      return await looked(deps, request.verb, () => {
        if (deps.approvals === null)
          throw new ApiError("identity_unavailable", "this appliance has no identity provider");
        return {
          ok: true,
          verb: "approval-proof",
          proof: deps.approvals.proof(request.approval),
        };
      });
    case "policy-decisions":
      return {
        ...{ ok: true, verb: "policy-decisions", policySet: policiesInForce().sha256 },
        ...pageOfDecisions(deps.read, request.after ?? null),
      };
  }
}

function looked(
  deps: ControlDeps,
  verb: ControlVerb,
  look: () => OperatorReply,
): Promise<OperatorReply> {
  return byOperator(
    deps,
    "admin.control",
    { kind: "appliance", id: "appliance" },
    { verb },
    async () => look(),
  );
}
