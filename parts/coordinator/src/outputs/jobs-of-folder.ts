import { isTerminal, type JobState } from "@resontech/contracts/job-states";
import type { ReadHandle } from "../db/open-database.ts";

type Row = { id: string; state: JobState };

/**
 * The jobs that store into a folder of a bucket: those whose output root it is, or the one that `logs/JOB` and `ckpt/JOB` name.
 * @returns the last of them, null for none, and whether all have ended
 */
export function findJobsOfFolder(
  db: ReadHandle,
  bucket: string,
  folder: string,
): { job: string | null; isOver: boolean } {
  const [, id] = /^(?:logs|ckpt)\/([^/]+)$/.exec(folder) ?? [];
  const rows =
    id === undefined
      ? db
          .prepare<[string, string], Row>(
            "SELECT id, state FROM jobs WHERE bucket = ? AND output_root = ? ORDER BY sequence DESC",
          )
          .all(bucket, folder)
      : db
          .prepare<[string, string], Row>("SELECT id, state FROM jobs WHERE bucket = ? AND id = ?")
          .all(bucket, id);
  return { job: rows[0]?.id ?? null, isOver: rows.every(({ state }) => isTerminal(state)) };
}
