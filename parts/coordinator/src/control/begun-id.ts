import type { ReadHandle } from "../db/open-database.ts";
import { idThatBegins } from "./decisions/id-that-begins.ts";

const KINDS = {
  platform_keys: { what: "key", list: "appliance key ls" },
  jobs: { what: "job", list: "appliance job ls --all" },
} as const;

/** The id of a row that a person names by the id or how it begins. @throws ApiError not_found, id_ambiguous */
export function begunId(db: ReadHandle, table: keyof typeof KINDS, start: string): string {
  const ids = db
    .prepare<[string, string], string>(
      // No id has a character above `~`.
      `SELECT id FROM ${table} WHERE id >= ? AND id < ? ORDER BY id`,
    )
    .pluck()
    .all(start, `${start}~`);
  return idThatBegins(ids, start, KINDS[table]);
}
