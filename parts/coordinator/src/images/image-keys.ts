/** Keys whose signatures admit an image. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";

/** @property sha256 hex, of the public key @property trustedAt Unix milliseconds */
export type ImageKey = { sha256: string; pem: string; trustedAt: number };

export function listImageKeys(db: ReadHandle): ImageKey[] {
  return db
    .prepare<[], ImageKey>(
      "SELECT sha256, pem, trusted_at AS trustedAt FROM image_keys ORDER BY trusted_at, sha256",
    )
    .all();
}

/** Trusts a key, inside a transaction. */
export function trustImageKey(db: WriteHandle, key: ImageKey): void {
  db.prepare(
    "INSERT INTO image_keys (sha256, pem, trusted_at) VALUES (@sha256, @pem, @trustedAt) ON CONFLICT (sha256) DO NOTHING",
  ).run(key);
}

/** Ends the trust in a key, inside a transaction. @returns false where it was not trusted */
export function distrustImageKey(db: WriteHandle, sha256: string): boolean {
  return db.prepare("DELETE FROM image_keys WHERE sha256 = ?").run(sha256).changes === 1;
}
