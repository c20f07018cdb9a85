/** What keys have used of deployments, day by day: as the gateway tells it from its journal, and as people read it. */
import type { UsageRow } from "@resontech/contracts/gateway-numbers";
import type { UsageEntry, UsageQuery } from "@resontech/contracts/http-inference";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";

/** More rows are not read at once. */
export const MAX_USAGE_ROWS = 10_000;

/**
 * Keeps what was told. Each row is the whole of a day that has only grown since, so of two words the greater one is the newer.
 * @throws what the database says; then nothing of it is kept
 */
export async function keepUsage(commit: GroupCommit, rows: readonly UsageRow[]): Promise<void> {
  await commit.run((db) => {
    const keyOf = db
      .prepare<[Buffer], string>("SELECT id FROM platform_keys WHERE hash = ?")
      .pluck();
    // A deployment that there never was is nobody's, and a project is what the job says.
    const projectOf = db
      .prepare<[string], string>("SELECT project_id FROM jobs WHERE id = ?")
      .pluck();
    const keep = db.prepare(
      `INSERT INTO call_usage (day, job_id, key_sha256, key_id, project_id, calls, failed, inexact, prompt_tokens, completion_tokens)
       VALUES (@day, @deployment, @keySha256, @key, @project, @calls, @failed, @inexact, @promptTokens, @completionTokens)
       ON CONFLICT (day, job_id, key_sha256) DO UPDATE SET
         calls = max(calls, excluded.calls), failed = max(failed, excluded.failed), inexact = max(inexact, excluded.inexact),
         prompt_tokens = max(prompt_tokens, excluded.prompt_tokens), completion_tokens = max(completion_tokens, excluded.completion_tokens)`,
    );
    for (const row of rows) {
      const key = keyOf.get(Buffer.from(row.keySha256, "hex")) ?? null;
      keep.run({ ...row, key, project: projectOf.get(row.deployment) ?? row.project });
    }
  });
}

/** Rows that the caller may see, the newest day first. @returns one more than {@link MAX_USAGE_ROWS} where there are more */
export function readUsage(
  db: ReadHandle,
  reach: RowFilter,
  { from, to, project, deployment }: UsageQuery,
): UsageEntry[] {
  const seen = whereOf(reach, { projectId: "u.project_id", userId: "jobs.user_id" });
  const conditions = [
    { sql: seen.sql, values: seen.values },
    ...(from === undefined ? [] : [{ sql: "u.day >= ?", values: [from] }]),
    ...(to === undefined ? [] : [{ sql: "u.day <= ?", values: [to] }]),
    ...(project === undefined ? [] : [{ sql: "u.project_id = ?", values: [project] }]),
    ...(deployment === undefined ? [] : [{ sql: "u.job_id = ?", values: [deployment] }]),
  ];
  return db
    .prepare<string[], UsageEntry>(
      `SELECT u.day, u.job_id AS deployment, jobs.name, u.project_id AS projectId, u.key_id AS keyId, sum(u.calls) AS calls, sum(u.failed) AS failed,
         sum(u.inexact) AS inexact, sum(u.prompt_tokens) AS promptTokens, sum(u.completion_tokens) AS completionTokens
       FROM call_usage u LEFT JOIN jobs ON jobs.id = u.job_id
       WHERE ${conditions.map(({ sql }) => `(${sql})`).join(" AND ")}
       GROUP BY u.day, u.job_id, u.key_id ORDER BY u.day DESC, u.job_id, u.key_id LIMIT ${MAX_USAGE_ROWS + 1}`,
    )
    .all(...conditions.flatMap(({ values }) => values));
}
