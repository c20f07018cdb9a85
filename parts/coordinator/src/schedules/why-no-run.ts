/** Whether a run of a schedule may be: by the rights that its owner has at that moment, and the credential that made it. */
import type { PauseReason } from "@resontech/contracts/http-schedules";
import type { AskedClass, SubmitTaskBody } from "@resontech/contracts/http-tasks";
import type { KeyScope } from "@resontech/contracts/http-identity";
import type { Caller, KeyCaller, SessionCaller } from "../authorization/caller.ts";
import { wouldAllow } from "../authorization/decide.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { grantsOf, SECOND_FACTOR } from "../identity/decisions/people-roles.ts";
import { UNSEEN_MS } from "../identity/decisions/unseen.ts";
import { heldBy, membershipsOf } from "../identity/people-store.ts";
import { roleIn } from "../identity/project-store.ts";
import { rolesOf } from "../identity/role-holders.ts";
import { StoredTasks } from "../kernel/stored-tasks.ts";
import { classActionOf } from "../submission/decisions/class-action.ts";
import type { ScheduleRow } from "./schedule-store.ts";

type Owner = {
  disabled_at: number | null;
  left_at: number | null;
  source_kind: string | null;
  signed_in_at: number | null;
};
type Of = Pick<ScheduleRow, "userId" | "projectId" | "keyId" | "task" | "jobId">;

/** Null where the owner may submit a job of the project's files now; else what is missing. */
export function whyNoRun(db: ReadHandle, schedule: Of, now: number): PauseReason | null {
  const { userId, projectId } = schedule;
  const owner = db
    .prepare<[string], Owner>(
      "SELECT disabled_at, left_at, source_kind, signed_in_at FROM users WHERE id = ?",
    )
    .get(userId);
  if (owner === undefined || owner.disabled_at !== null) return "owner_disabled";
  if (owner.left_at !== null) return "owner_left";
  if (owner.source_kind === "broker" && (owner.signed_in_at ?? 0) <= now - UNSEEN_MS)
    return "owner_unseen";
  const caller = schedule.keyId === null ? personOf(db, schedule) : keyOf(db, schedule, now);
  if (typeof caller === "string") return caller;
  const may =
    wouldAllow(caller, "job.submit", { userId, projectId }) &&
    mayHaveClass(caller, classOfRun(db, schedule), { userId, projectId }) &&
    wouldAllow(caller, "job.inputs.read", { projectId });
  return may ? null : "policy_refused";
}

function mayHaveClass(
  caller: Caller,
  asked: AskedClass | null,
  row: { userId: string; projectId: string },
): boolean {
  const { action, of } = classActionOf(asked);
  return of === "job" ? wouldAllow(caller, action, row) : wouldAllow(caller, action, {});
}

/** As the body of its task says, or the job that is repeated. */
function classOfRun(db: ReadHandle, { task, jobId }: Of): AskedClass | null {
  if (task !== null) return (JSON.parse(task) as SubmitTaskBody).class ?? null;
  return jobId === null ? null : (new StoredTasks(db).of(jobId)?.jobClass ?? null);
}

/** As the person who signed in. */
function personOf(db: ReadHandle, { userId, projectId }: Of): SessionCaller | PauseReason {
  const memberships = membershipsOf(db, userId);
  if (!memberships.some((membership) => membership.projectId === projectId))
    return "not_in_project";
  return {
    ...{ kind: "session", sessionId: "", userId, projectId },
    grants: grantsOf(rolesOf(db, userId), memberships),
    holds: heldBy(db, userId),
    signIn: { acr: SECOND_FACTOR, at: Date.now() },
  };
}

/** As the key, while it lives. */
function keyOf(
  db: ReadHandle,
  { userId, projectId, keyId }: Of,
  now: number,
): KeyCaller | PauseReason {
  const key = db
    .prepare<[string | null, number], { scopes: string }>(
      "SELECT scopes FROM platform_keys WHERE id = ? AND revoked_at IS NULL AND expires_at > ?",
    )
    .get(keyId, now);
  if (key === undefined) return "key_over";
  const role = roleIn(db, projectId, userId);
  if (role === null) return "not_in_project";
  const scopes = JSON.parse(key.scopes) as KeyScope[];
  return {
    ...{ kind: "key", keyId: keyId!, userId, projectId, role, scopes },
    holds: heldBy(db, userId),
  };
}
