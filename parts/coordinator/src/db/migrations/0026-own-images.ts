import type { Migration } from "@resontech/frame/migrate";

/** Images of the customer's own, by whose word they were admitted, and the keys whose signatures admit one. */
export const ownImages: Migration = {
  version: 26,
  name: "own-images",
  sql: `
    CREATE TABLE own_images (
      name TEXT PRIMARY KEY,
      -- Of its manifest, sha256:….
      digest TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      -- How it is run, as JSON.
      program TEXT NOT NULL,
      admitted_by TEXT NOT NULL CHECK (admitted_by IN ('digest', 'signature', 'approval')),
      -- The key or the request; null where the digest was said.
      proof TEXT,
      admitted_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE image_keys (
      -- SHA-256 of the public key (SPKI), hex.
      sha256 TEXT PRIMARY KEY,
      pem TEXT NOT NULL,
      trusted_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
