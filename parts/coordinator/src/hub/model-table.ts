/** Models of the hub: rows that pin versions of objects where they lie. Nothing is copied; the collector keeps what they name. */
import type { MODEL_STATES } from "@resontech/contracts/http-models";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { ObjectVersion } from "../storage/object-store.ts";

export type ModelState = (typeof MODEL_STATES)[number];
export type HubModel = {
  id: string;
  name: string;
  revision: string;
  commit: string | null;
  /** Version and ETag of {@link refKey}; null as long as there is no commit. */
  refVersion: string | null;
  refEtag: string | null;
  licence: string;
  bucket: string;
  projectId: string;
  state: ModelState;
  why: string | null;
  createdAt: number;
};
export type HubFile = {
  path: string;
  key: string;
  versionId: string;
  etag: string;
  sizeBytes: number;
  /** Hex; null until it was read. */
  sha256: string | null;
};
export type HubModelSize = { files: number; sizeBytes: number };

const COLUMNS = `id, name, revision, commit_id AS "commit", ref_version AS refVersion, ref_etag AS refEtag, licence, bucket, project_id AS projectId, state, why, created_at AS createdAt`;

export class ModelTable {
  readonly #list;
  readonly #find;
  readonly #files;
  readonly #unchecked;

  constructor(read: ReadHandle) {
    this.#list = read.prepare<[], HubModel & HubModelSize>(
      `SELECT ${COLUMNS}, count(path) AS files, coalesce(sum(size_bytes), 0) AS sizeBytes
       FROM hub_models LEFT JOIN hub_files ON model_id = id GROUP BY id ORDER BY name, created_at DESC`,
    );
    this.#find = read.prepare<[string, string, string], HubModel>(
      `SELECT ${COLUMNS} FROM hub_models WHERE name = ? AND (revision = ? OR commit_id = ?) ORDER BY created_at LIMIT 1`,
    );
    this.#files = read.prepare<[string], HubFile>(
      `SELECT path, key, version_id AS versionId, etag, size_bytes AS sizeBytes, sha256 FROM hub_files WHERE model_id = ? ORDER BY path`,
    );
    this.#unchecked = read.prepare<[], HubModel>(
      `SELECT ${COLUMNS} FROM hub_models WHERE state = 'CHECKING' ORDER BY created_at`,
    );
  }

  list(): (HubModel & HubModelSize)[] {
    return this.#list.all();
  }

  /** @param revision its name, or the commit */
  find(name: string, revision: string): HubModel | null {
    return this.#find.get(name, revision, revision) ?? null;
  }

  /** By path. */
  files(modelId: string): HubFile[] {
    return this.#files.all(modelId);
  }

  /** Those whose digests nobody knows yet. */
  unchecked(): HubModel[] {
    return this.#unchecked.all();
  }
}

/** @param addedBy user who added it @returns false where the revision is there already */
export function insertModel(
  db: WriteHandle,
  model: Omit<HubModel, "commit" | "refVersion" | "refEtag" | "state" | "why">,
  addedBy: string,
  files: readonly HubFile[],
): boolean {
  const { changes } = db
    .prepare(
      `INSERT INTO hub_models (id, name, revision, licence, bucket, project_id, added_by, state, created_at)
       VALUES (@id, @name, @revision, @licence, @bucket, @projectId, @addedBy, 'CHECKING', @createdAt)
       ON CONFLICT (name, revision) DO NOTHING`,
    )
    .run({ ...model, addedBy });
  if (changes === 0) return false;
  const insert = db.prepare(
    `INSERT INTO hub_files (model_id, path, key, version_id, etag, size_bytes, sha256)
     VALUES (@model, @path, @key, @versionId, @etag, @sizeBytes, NULL)`,
  );
  for (const file of files) insert.run({ ...file, model: model.id });
  return true;
}

/** @returns false where it is gone already */
export function removeModel(db: WriteHandle, id: string): boolean {
  db.prepare("DELETE FROM hub_files WHERE model_id = ?").run(id);
  return db.prepare("DELETE FROM hub_models WHERE id = ?").run(id).changes === 1;
}

export function noteDigest(db: WriteHandle, modelId: string, path: string, sha256: string): void {
  db.prepare("UPDATE hub_files SET sha256 = ? WHERE model_id = ? AND path = ?").run(
    ...[sha256, modelId, path],
  );
}

/** An object of the model's bucket: its content is the commit, as a file below `refs/` of a cache. */
export function refKey(commit: string): string {
  return `hub/${commit}`;
}

/** @returns false where it was removed meanwhile */
export function noteReady(
  db: WriteHandle,
  id: string,
  commit: string,
  ref: Pick<ObjectVersion, "versionId" | "etag">,
): boolean {
  const { changes } = db
    .prepare(
      "UPDATE hub_models SET state = 'READY', commit_id = ?, ref_version = ?, ref_etag = ? WHERE id = ? AND state = 'CHECKING'",
    )
    .run(commit, ref.versionId, ref.etag, id);
  return changes === 1;
}

export function noteFailed(db: WriteHandle, id: string, why: string): void {
  db.prepare(
    "UPDATE hub_models SET state = 'FAILED', why = ? WHERE id = ? AND state = 'CHECKING'",
  ).run(...[why, id]);
}
