/** Who will see less by the release that comes: asked of the database of the release that is there, which goes on running. */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "node:sqlite";
import type { LosesData } from "./decisions/lost-data.ts";

/**
 * People with a duty that leaves no data, and with a platform key or a key pair. Nothing is written and no file is made: what a stopped release left is
 * read as it lies there.
 *
 * @param file of the coordinator's database
 * @returns null for a release whose duties bind keys already, and where there is no database
 * @throws Error from SQLite for a file that can't be read
 */
export function peopleWhoLoseData(file: string): LosesData[] | null {
  if (!existsSync(file)) return null;
  const url = pathToFileURL(file);
  // Beside a running release its own files are there. Without it a reader would make them, and they would be root's.
  url.search = existsSync(`${file}-shm`) ? "mode=ro" : "mode=ro&immutable=1";
  const db = new DatabaseSync(url, { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const has = (name: string) => tables.some((table) => table["name"] === name);
    if (has("restored_administrators") || !has("role_holders") || !has("bucket_pairs")) return null;
    return db
      .prepare(
        `SELECT username, duty, keys, pairs FROM (
           SELECT u.username, h.role AS duty,
             (SELECT count(*) FROM platform_keys k WHERE k.user_id = u.id AND k.revoked_at IS NULL AND k.expires_at > ?) AS keys,
             (SELECT count(*) FROM bucket_pairs p WHERE p.user_id = u.id AND p.access_key_id IS NOT NULL) AS pairs
           FROM users u JOIN (
             SELECT user_id, role FROM role_holders WHERE role IN ('platform-admin', 'compliance-auditor')
             UNION SELECT id, 'platform-admin' FROM users WHERE is_admin = 1 AND signed_in_at IS NULL
           ) AS h ON h.user_id = u.id
           WHERE u.disabled_at IS NULL
         ) WHERE keys + pairs > 0 ORDER BY username, duty`,
      )
      .all(Date.now())
      .map(({ username, duty, keys, pairs }) => ({
        ...{ username: String(username), duty: String(duty) },
        ...{ keys: Number(keys), pairs: Number(pairs) },
      }));
  } finally {
    db.close();
  }
}
