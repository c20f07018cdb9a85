/** What the operator changes of keys, users, jobs and nodes: each on record before it happens and with its outcome. */
import { KeycloakUnreachableError } from "@resontech/keycloak/address";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { OperatorReply } from "@resontech/contracts/operator-control";
import { ApiError } from "../api-error.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { BucketKeys } from "../identity/bucket-keys.ts";
import type { RoleChanges } from "../approvals/role-changes.ts";
import type { AccountLinks } from "../identity/accounts/account-links.ts";
import type { KeycloakAccounts } from "../identity/accounts/keycloak-accounts.ts";
import type { Sessions } from "../identity/sign-in/sessions.ts";
import { setProjectQuota } from "../identity/bucket-store.ts";
import { createProject, planProject } from "../identity/create-project.ts";
import { findDefaultProject } from "../identity/project-store.ts";
import { endMembership } from "../identity/memberships.ts";
import { maySeeData } from "../identity/data-rights.ts";
import { renewKey, revokeKey } from "../identity/key-store.ts";
import { setDisabled } from "../identity/user-access.ts";
import type { OpenOperation } from "../audited-operation.ts";
import type { JobView } from "../kernel/job-view.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { NodeRemoval } from "../nodes/node-removal.ts";
import type { NodeUpgrades } from "../nodes/node-upgrades.ts";
import { byOperator, type ByOperatorDeps } from "./by-operator.ts";
import type { OperatorViews } from "./operator-views.ts";

export type OperatorChangesDeps = ByOperatorDeps & {
  read: ReadHandle;
  views: OperatorViews;
  bucketKeys: BucketKeys;
  /** Of a new project's bucket. */
  quotaBytes: number;
  /** Null where the appliance has no identity provider. */
  people: {
    links: AccountLinks;
    sessions: Pick<Sessions, "endAll">;
    accounts: Pick<KeycloakAccounts, "remove">;
    roleChanges: Pick<RoleChanges, "inTurn" | "requireAdministratorBeside" | "restore">;
  } | null;
  kernel: Pick<Kernel, "requestStop" | "explainStop">;
  /** Takes a node out of placement for a reason, or back for null. */
  cordon: (node: string, reason: string | null) => void;
  /** Inside a commit. */
  removal: Pick<NodeRemoval, "evict" | "remove">;
  upgrades: Pick<NodeUpgrades, "plan" | "replaceOrders" | "note" | "facts">;
  now: () => number;
};

const DAY_S = 86_400;
type Reply<V extends OperatorReply["verb"]> = Extract<OperatorReply, { verb: V }>;

export async function renew(
  deps: OperatorChangesDeps,
  idOrStart: string,
  days: number,
): Promise<Reply<"key-renew">> {
  const key = deps.views.keyId(idOrStart);
  const seconds = days * DAY_S;
  const expiresAt = deps.now() + seconds * 1_000;
  await byOperator(
    deps,
    "key.renew",
    { kind: "key", id: key },
    { expires_in_s: seconds },
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        renewKey(db, key, expiresAt);
        completeIn(db);
      });
    },
  );
  return { ok: true, verb: "key-renew", key, expiresAt: new Date(expiresAt).toISOString() };
}

export async function revoke(
  deps: OperatorChangesDeps,
  idOrStart: string,
): Promise<Reply<"key-revoke">> {
  const key = deps.views.keyId(idOrStart);
  await byOperator(deps, "key.revoke", { kind: "key", id: key }, {}, async ({ completeIn }) => {
    await deps.commit.run((db) => {
      revokeKey(db, key, deps.now());
      completeIn(db);
    });
  });
  return { ok: true, verb: "key-revoke", key };
}

export async function changeQuota(
  deps: OperatorChangesDeps,
  username: string,
  bytes: number,
): Promise<Reply<"user-quota">> {
  const { userId } = deps.views.user(username);
  const project = findDefaultProject(deps.read, userId);
  if (project === null)
    throw new ApiError("bucket_missing", `${username} has a duty alone, and no bucket`);
  const detail = { change: "quota", quota_bytes: bytes } as const;
  await byOperator(
    deps,
    "iam.user.change",
    { kind: "user", id: userId },
    detail,
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        setProjectQuota(db, project, bytes);
        completeIn(db);
      });
    },
  );
  return { ok: true, verb: "user-quota", username, bytes };
}

/** @throws ApiError not_found, project_exists */
export async function addProject(
  deps: OperatorChangesDeps,
  { name, team, lead }: { name: string; team?: string; lead: string },
): Promise<Reply<"project-add">> {
  const { userId: leadId } = deps.views.user(lead);
  const wish = { name, team, leadId };
  const planned = planProject(wish);
  const { quotaBytes } = deps;
  await byOperator(
    deps,
    "iam.project.create",
    { kind: "project", id: planned.projectId },
    { lead: leadId },
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        createProject(db, planned, wish, { quotaBytes, now: deps.now() });
        completeIn(db);
      });
    },
  );
  return {
    ...{ ok: true, verb: "project-add", project: planned.projectId },
    ...{ name, team: planned.team, lead },
  };
}

/**
 * Platform keys are refused before the pairs for buckets are taken away: a crash between leaves the user with less, never with more.
 * @throws ApiError last_admin
 */
export async function disable(
  deps: OperatorChangesDeps,
  username: string,
): Promise<Reply<"user-disable">> {
  const { userId, livingJobs } = deps.views.user(username);
  // No other change of roles comes between the check and the row.
  const inTurn = <T>(work: () => Promise<T>) => deps.people?.roleChanges.inTurn(work) ?? work();
  await byOperator(
    deps,
    "iam.user.change",
    { kind: "user", id: userId },
    { change: "disabled" },
    async ({ completeIn }) => {
      await inTurn(async () => {
        deps.people?.roleChanges.requireAdministratorBeside(userId);
        await deps.commit.run((db) => setDisabled(db, userId, deps.now()));
      });
      await deps.people?.sessions.endAll({ userId }, "disabled");
      // Nobody waits for Keycloak to be refused here: our own row already does that.
      await deps.people?.links.setEnabled(userId, false).catch(ignoreAway);
      await deps.bucketKeys.withdrawAll(userId, completeIn);
    },
  );
  return { ok: true, verb: "user-disable", username, livingJobs };
}

/** @throws ApiError user_enabled where nobody had disabled the user: a new key pair would void the one in use */
export async function enable(
  deps: OperatorChangesDeps,
  username: string,
): Promise<Reply<"user-enable">> {
  const { userId, bucket, isDisabled } = deps.views.user(username);
  if (!isDisabled) throw new ApiError("user_enabled", `the user ${username} is not disabled`);
  const projectId = findDefaultProject(deps.read, userId);
  const getsPair =
    bucket !== null && projectId !== null && maySeeData(deps.read, { userId, projectId });
  const pair = await byOperator(
    deps,
    "iam.user.change",
    { kind: "user", id: userId },
    { change: "enabled" },
    async ({ completeIn }) => {
      const settle = (db: WriteHandle) => {
        setDisabled(db, userId, null);
        completeIn(db);
      };
      if (getsPair) return await deps.bucketKeys.replace(bucket, userId, settle);
      await deps.commit.run(settle);
      return { accessKeyId: null, secretAccessKey: null };
    },
  );
  await deps.people?.links.setEnabled(userId, true);
  return { ok: true, verb: "user-enable", username, ...pair };
}

/** @throws ApiError identity_unavailable, directory_user */
export async function givePassword(
  deps: OperatorChangesDeps,
  username: string,
): Promise<Reply<"user-password">> {
  const { userId } = deps.views.user(username);
  const { people } = deps;
  if (people === null)
    throw new ApiError("identity_unavailable", "this appliance has no identity provider");
  const password = await byOperator(
    deps,
    "iam.user.change",
    { kind: "user", id: userId },
    { change: "password" },
    () => people.links.firstPassword(userId),
  );
  return { ok: true, verb: "user-password", username, password };
}

/** At the host, on record: what two people do through a request otherwise. @throws ApiError identity_unavailable */
export async function resetSecondFactor(
  deps: OperatorChangesDeps,
  username: string,
): Promise<Reply<"user-second-factor">> {
  const { userId } = deps.views.user(username);
  const { people } = deps;
  if (people === null)
    throw new ApiError("identity_unavailable", "this appliance has no identity provider");
  await byOperator(
    deps,
    "iam.user.change",
    { kind: "user", id: userId },
    { change: "second-factor" },
    async () => {
      await people.links.resetSecondFactor(userId);
      await people.sessions.endAll({ userId }, "revoked");
    },
  );
  return { ok: true, verb: "user-second-factor", username };
}

/** @throws ApiError last_lead; not_found for a user or a project that is not there, and for who is no member */
export async function removeMember(
  deps: OperatorChangesDeps,
  { username, project }: { username: string; project: string },
): Promise<Reply<"member-remove">> {
  const { userId } = deps.views.user(username);
  await byOperator(
    deps,
    "iam.project.member",
    { kind: "project", id: project },
    { change: "revoke", member: userId },
    (operation) => endMembership(deps, { projectId: project, userId }, operation),
  );
  return { ok: true, verb: "member-remove", username, project };
}

/**
 * At the host, on record: what two people do through a request otherwise, for an appliance whose administrators are gone.
 * @throws ApiError identity_unavailable, user_disabled, duties_conflict
 */
export async function restoreAdministrator(
  deps: OperatorChangesDeps,
  username: string,
): Promise<Reply<"restore-administrator">> {
  const { userId } = deps.views.user(username);
  const { people } = deps;
  await byOperator(
    deps,
    "iam.role.change",
    { kind: "user", id: userId },
    { role: "platform-admin", change: "grant" },
    async ({ completeIn }) => {
      if (people === null)
        throw new ApiError("identity_unavailable", "this appliance has no identity provider");
      await people.roleChanges.restore(userId, completeIn);
    },
  );
  return { ok: true, verb: "restore-administrator", username };
}

function ignoreAway(error: unknown): void {
  if (!(error instanceof KeycloakUnreachableError)) throw error;
}

export async function cancelJob(
  deps: OperatorChangesDeps,
  idOrStart: string,
  reason: string,
): Promise<Reply<"job-cancel">> {
  // A job that is not there leaves no operation behind.
  const id = deps.views.jobId(idOrStart);
  const stop = async (operation: OpenOperation): Promise<JobView | null> => {
    const stopping = await deps.kernel.requestStop(id, "operator_cancelled", operation.proof);
    operation.closedElsewhere();
    await deps.kernel.explainStop(id, `The operator stopped the job: ${reason}`);
    return stopping;
  };
  const job = await byOperator(deps, "job.cancel", { kind: "job", id }, {}, stop, reason);
  return { ok: true, verb: "job-cancel", job: id, state: job?.state ?? "UNKNOWN" };
}

/** @returns how many members still hold something there */
export async function drain(deps: OperatorChangesDeps, node: string): Promise<Reply<"node-drain">> {
  deps.views.node(node);
  await setCordon(deps, node, "drained by the operator");
  return { ok: true, verb: "node-drain", node, members: deps.views.node(node).members.length };
}

export async function undrain(
  deps: OperatorChangesDeps,
  node: string,
): Promise<Reply<"node-undrain">> {
  deps.views.node(node);
  await setCordon(deps, node, null);
  return { ok: true, verb: "node-undrain", node };
}

/** What runs there ends, and goes on elsewhere. @returns how many members still hold something there */
export async function evict(deps: OperatorChangesDeps, node: string): Promise<Reply<"node-evict">> {
  deps.views.node(node);
  await changeNode(deps, node, { change: "evicted" }, () => {
    deps.cordon(node, "drained by the operator");
    deps.removal.evict(node);
  });
  return { ok: true, verb: "node-evict", node, members: deps.views.node(node).members.length };
}

/** @throws ApiError `node_busy` while the node lives and holds something */
export async function remove(
  deps: OperatorChangesDeps,
  node: string,
): Promise<Reply<"node-remove">> {
  deps.views.node(node);
  await changeNode(deps, node, { change: "removed" }, () => deps.removal.remove(node));
  return { ok: true, verb: "node-remove", node };
}

/**
 * Each node's order is on record of its own; how it ends is the release with which the node registers. Broken off between two nodes, the rest is
 * not ordered, and the same request goes on.
 *
 * @throws ApiError not_found
 */
export async function upgradeNodes(
  deps: OperatorChangesDeps,
  { nodes, except }: { nodes: string[] | null; except: string[] },
): Promise<Reply<"node-upgrade">> {
  const plan = deps.upgrades.plan(nodes, except);
  await deps.commit.run(() => deps.upgrades.replaceOrders(plan));
  for (const wish of plan.wishes)
    await changeNode(deps, wish.node, { change: "upgrade-ordered", release: plan.release }, () =>
      deps.upgrades.note(plan, wish),
    );
  const { release, underWay, current, leftOut } = plan;
  const ordered = [...underWay, ...plan.wishes.map(({ node }) => node)];
  return { ok: true, verb: "node-upgrade", release, ordered, current, leftOut };
}

async function setCordon(
  deps: OperatorChangesDeps,
  node: string,
  reason: string | null,
): Promise<void> {
  const change = reason === null ? "undrained" : "drained";
  await changeNode(deps, node, { change }, () => deps.cordon(node, reason));
}

async function changeNode(
  deps: OperatorChangesDeps,
  node: string,
  detail: EventDetail<"iam.node.change">,
  apply: () => void,
): Promise<void> {
  await byOperator(
    deps,
    "iam.node.change",
    { kind: "node", id: node },
    detail,
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        apply();
        completeIn(db);
      });
    },
  );
}
