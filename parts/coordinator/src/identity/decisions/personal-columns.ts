/**
 * Every column of the database that names a user: what a person is given of it who asks what is held, and what becomes of it when the name is
 * forgotten. A test compares the list with the database itself, so a new column can't be left out of either answer. Pure.
 */

/** Kinds of line of a person's own data, in order; see `contracts/src/http/http-personal-data.ts`. */
export type PersonalPart =
  | "role"
  | "role-request"
  | "group"
  | "project"
  | "project-founded"
  | "platform-key"
  | "calls-by-key"
  | "key-pair"
  | "ssh-key"
  | "session"
  | "service-account"
  | "answers-for"
  | "node"
  | "model"
  | "request"
  | "answer"
  | "signature"
  | "export"
  | "concerned"
  | "restored"
  | "acknowledged"
  | "job"
  | "job-cancelled"
  | "array"
  | "schedule"
  | "calendar-entry"
  | "worker-held"
  | "job-mail"
  | "mail-of-every-job";

type PersonalColumn = {
  /** `table.column` */
  column: string;
  /** The same of the table that holds what the release before does not know. */
  twin?: string;
  part: PersonalPart;
  /** Of one person, by `@userId`. Instants are Unix milliseconds and end in `At`. Never what opens something. */
  select: string;
  /** What takes out what is personal; where a row stays, why. */
  forget: { sql: string | readonly string[]; stays?: string } | { stays: string };
};

const OWNED = "The row is the project's, and names its owner by the pseudonym alone.";
const RECORD =
  "It is the record of a decision, and names people by their pseudonyms alone; what was typed as its reason stays.";

export const PERSONAL_COLUMNS: readonly PersonalColumn[] = [
  {
    column: "role_holders.user_id",
    part: "role",
    select: "SELECT role FROM role_holders WHERE user_id = @userId ORDER BY role",
    forget: { sql: "DELETE FROM role_holders WHERE user_id = @userId" },
  },
  {
    column: "role_requests.user_id",
    part: "role-request",
    select:
      "SELECT role, requested_at AS requestedAt FROM role_requests WHERE user_id = @userId ORDER BY role",
    forget: { sql: "DELETE FROM role_requests WHERE user_id = @userId" },
  },
  {
    column: "user_groups.user_id",
    part: "group",
    select:
      'SELECT group_name AS "group" FROM user_groups WHERE user_id = @userId ORDER BY group_name',
    forget: { sql: "DELETE FROM user_groups WHERE user_id = @userId" },
  },
  {
    column: "project_members.user_id",
    part: "project",
    select: `SELECT m.project_id AS project, p.name, m.role, m.created_at AS memberAt FROM project_members m
      JOIN projects p ON p.id = m.project_id WHERE m.user_id = @userId ORDER BY m.created_at, m.project_id`,
    forget: { stays: OWNED },
  },
  {
    column: "projects.owner_id",
    part: "project-founded",
    select: `SELECT p.id AS project, p.name, b.name AS bucket, b.quota_bytes AS quotaBytes, p.created_at AS createdAt
      FROM projects p LEFT JOIN buckets b ON b.project_id = p.id WHERE p.owner_id = @userId ORDER BY p.created_at, p.id`,
    forget: { stays: OWNED },
  },
  {
    column: "platform_keys.user_id",
    part: "platform-key",
    select: `SELECT id, name, prefix, last4, project_id AS project, scopes, created_at AS createdAt, expires_at AS expiresAt,
      last_used_at AS lastUsedAt, revoked_at AS revokedAt FROM platform_keys WHERE user_id = @userId ORDER BY created_at, id`,
    forget: {
      sql: "UPDATE platform_keys SET name = 'forgotten', revoked_at = coalesce(revoked_at, @now) WHERE user_id = @userId",
      stays: "The row stays, revoked and without the key's name: entries of the log name its id.",
    },
  },
  {
    column: "call_usage.key_id",
    part: "calls-by-key",
    select: `SELECT day, job_id AS deployment, key_id AS "key", calls, failed, prompt_tokens AS promptTokens,
      completion_tokens AS completionTokens FROM call_usage
      WHERE key_id IN (SELECT id FROM platform_keys WHERE user_id = @userId) ORDER BY day, job_id, key_id`,
    forget: { stays: OWNED },
  },
  {
    column: "bucket_pairs.user_id",
    part: "key-pair",
    select:
      "SELECT bucket, access_key_id AS accessKeyId, created_at AS createdAt FROM bucket_pairs WHERE user_id = @userId ORDER BY bucket",
    forget: { stays: "The pair went when the user was disabled; the row holds the pseudonym." },
  },
  {
    column: "ssh_keys.user_id",
    part: "ssh-key",
    select: "SELECT line FROM ssh_keys WHERE user_id = @userId ORDER BY position",
    forget: { sql: "DELETE FROM ssh_keys WHERE user_id = @userId" },
  },
  {
    column: "sessions.user_id",
    part: "session",
    select: `SELECT id, began_at AS beganAt, signed_in_at AS signedInAt, active_at AS lastSeenAt, ends_at AS endsAt FROM sessions
      WHERE user_id = @userId ORDER BY began_at`,
    forget: { sql: "DELETE FROM sessions WHERE user_id = @userId" },
  },
  {
    column: "service_accounts.created_by",
    part: "service-account",
    select: `SELECT id, name, project_id AS project, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt
      FROM service_accounts WHERE created_by = @userId ORDER BY created_at, id`,
    forget: { stays: OWNED },
  },
  {
    column: "service_accounts.answerable_id",
    part: "answers-for",
    select: `SELECT id, name, project_id AS project, orphaned_at AS orphanedAt FROM service_accounts
      WHERE answerable_id = @userId ORDER BY created_at, id`,
    forget: { stays: OWNED },
  },
  {
    column: "nodes.owner_id",
    part: "node",
    select: "SELECT id AS node FROM nodes WHERE owner_id = @userId ORDER BY id",
    forget: { stays: "The node belongs to the appliance; the row holds the pseudonym." },
  },
  {
    column: "hub_models.added_by",
    part: "model",
    select: "SELECT id, name FROM hub_models WHERE added_by = @userId ORDER BY id",
    forget: { stays: "The model belongs to the hub; the row holds the pseudonym." },
  },
  {
    ...{ column: "approvals.requester_id", twin: "later_approvals.requester_id" },
    part: "request",
    select: `SELECT id, kind, state, reason, created_at AS createdAt, decided_at AS decidedAt FROM every_approval
      WHERE requester_id = @userId ORDER BY created_at, id`,
    forget: { stays: RECORD },
  },
  {
    ...{ column: "approvals.decider_id", twin: "later_approvals.decider_id" },
    part: "answer",
    select: `SELECT id, kind, state, decided_at AS decidedAt FROM every_approval WHERE decider_id = @userId ORDER BY created_at, id`,
    forget: { stays: RECORD },
  },
  {
    ...{ column: "approvals.what", twin: "later_approvals.what" },
    part: "concerned",
    select: `SELECT id, kind, state, created_at AS createdAt, decided_at AS decidedAt FROM every_approval
      WHERE @userId IN (json_extract(what, '$.userId'), json_extract(what, '$.subject'), json_extract(what, '$.receiver'))
        OR @userId IN (SELECT value FROM json_each(what, '$.subjects')) ORDER BY created_at, id`,
    forget: { stays: RECORD },
  },
  {
    ...{ column: "step_up_signatures.user_id", twin: "later_signatures.user_id" },
    part: "signature",
    select: `SELECT approval_id AS request, answer, signed_at AS signedAt FROM every_signature
      WHERE user_id = @userId ORDER BY signed_at, approval_id`,
    // The token is Keycloak's, and names the person.
    forget: {
      sql: [
        "DELETE FROM step_up_signatures WHERE user_id = @userId",
        "DELETE FROM later_signatures WHERE user_id = @userId",
      ],
    },
  },
  {
    column: "export_grants.user_id",
    part: "export",
    select: `SELECT approval_id AS request, bucket, key, until AS untilAt FROM export_grants
      WHERE user_id = @userId ORDER BY until, key`,
    forget: { sql: "DELETE FROM export_grants WHERE user_id = @userId" },
  },
  {
    column: "restored_administrators.user_id",
    part: "restored",
    select: `SELECT restored_at AS restoredAt, acknowledged_at AS acknowledgedAt FROM restored_administrators
      WHERE user_id = @userId ORDER BY restored_at`,
    forget: { stays: RECORD },
  },
  {
    column: "restored_administrators.acknowledged_by",
    part: "acknowledged",
    select: `SELECT restored_at AS restoredAt, acknowledged_at AS acknowledgedAt FROM restored_administrators
      WHERE acknowledged_by = @userId ORDER BY restored_at`,
    forget: { stays: RECORD },
  },
  {
    column: "jobs.user_id",
    part: "job",
    select: `SELECT id, name, replace(kind, '-several', '') AS kind, state, project_id AS project, bucket, output_root AS outputs, state_since AS stateAt FROM jobs
      WHERE user_id = @userId ORDER BY sequence`,
    forget: { stays: OWNED },
  },
  {
    column: "jobs.stopped_by",
    part: "job-cancelled",
    select:
      "SELECT id AS job, project_id AS project FROM jobs WHERE stopped_by = @userId ORDER BY sequence",
    forget: { stays: OWNED },
  },
  {
    column: "arrays.user_id",
    part: "array",
    select:
      "SELECT id, name, project_id AS project, created_at AS createdAt FROM arrays WHERE user_id = @userId ORDER BY created_at, id",
    forget: { stays: OWNED },
  },
  {
    column: "schedules.user_id",
    part: "schedule",
    select:
      "SELECT id, name, project_id AS project, cron, time_zone AS timeZone, created_at AS createdAt FROM schedules WHERE user_id = @userId ORDER BY created_at, id",
    forget: { sql: "DELETE FROM schedules WHERE user_id = @userId" },
  },
  {
    column: "calendar.made_by",
    part: "calendar-entry",
    select:
      "SELECT id, project_id AS project, reason, from_at AS beginsAt, until_at AS endsAt, created_at AS createdAt FROM calendar WHERE made_by = @userId ORDER BY created_at, id",
    forget: {
      sql: "UPDATE calendar SET made_by = NULL WHERE made_by = @userId",
      stays: "The entry is the appliance's: its nodes stay closed.",
    },
  },
  {
    column: "holdings.user_id",
    part: "worker-held",
    select:
      "SELECT worker_id AS worker, model, job_id AS job, project_id AS project, held_from AS heldAt, held_until AS releasedAt FROM holdings WHERE user_id = @userId ORDER BY id",
    forget: {
      stays:
        "The row says what a project used, and names who submitted the job by the pseudonym alone.",
    },
  },
  {
    column: "job_mails.user_id",
    part: "job-mail",
    select: "SELECT job_id AS job FROM job_mails WHERE user_id = @userId ORDER BY job_id",
    forget: { sql: "DELETE FROM job_mails WHERE user_id = @userId" },
  },
  {
    column: "job_mails_of_all.user_id",
    part: "mail-of-every-job",
    select: "SELECT since AS sinceAt FROM job_mails_of_all WHERE user_id = @userId",
    forget: { sql: "DELETE FROM job_mails_of_all WHERE user_id = @userId" },
  },
];

/** Columns that name no person, though they point at users. */
export const OF_NO_PERSON: Readonly<Record<string, string>> = {
  "service_accounts.id": "A program has a row of users, because it owns jobs.",
};
