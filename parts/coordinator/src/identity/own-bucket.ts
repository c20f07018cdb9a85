/** The bucket of a person's own first project: its name holds the person's user name, so it goes where the name must go. */
import { randomBytes } from "node:crypto";
import { ApiError } from "../api-error.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type Bucket, findBucketOfProject } from "./bucket-store.ts";
import { bucketNameFor } from "./decisions/user-names.ts";
import { findDefaultProject } from "./project-store.ts";

type Store = Pick<
  ObjectStore,
  "versions" | "remove" | "listUploads" | "abortUpload" | "removeBucket"
>;

export function ownBucketOf(db: ReadHandle, userId: string): Bucket | null {
  const project = findDefaultProject(db, userId);
  return project === null ? null : findBucketOfProject(db, project);
}

/** @throws ApiError bucket_shared while others work in the bucket */
export function requireNobodyElse(db: ReadHandle, bucket: Bucket, userId: string): void {
  const others = db
    .prepare<
      [{ project: string; bucket: string; userId: string }],
      { members: number; models: number }
    >(
      `SELECT (SELECT count(*) FROM project_members WHERE project_id = @project AND user_id <> @userId) AS members,
         (SELECT count(*) FROM hub_models WHERE bucket = @bucket) AS models`,
    )
    .get({ project: bucket.projectId, bucket: bucket.name, userId })!;
  if (others.members > 0)
    throw new ApiError("bucket_shared", `${others.members} other members work in this bucket`);
  if (others.models > 0)
    throw new ApiError("bucket_shared", `${others.models} models of the hub lie in this bucket`);
}

/** Takes every version, open upload and the bucket itself from the engine; one that is gone already is fine. @returns how many versions went */
export async function removeBucket(store: Store, bucket: string): Promise<number> {
  let removed = 0;
  for (;;) {
    const page = await firstVersions(store, bucket);
    if (page === null) return removed;
    if (page.length === 0) break;
    for (const { key, versionId } of page) await store.remove(bucket, key, versionId);
    removed += page.length;
  }
  for (const { key, uploadId } of await store.listUploads(bucket, ""))
    await store.abortUpload(bucket, key, uploadId);
  await store.removeBucket(bucket);
  return removed;
}

/** Removed pages are gone, so the first one is always the next. Null: there is no such bucket. */
async function firstVersions(store: Store, bucket: string) {
  try {
    for await (const page of store.versions(bucket)) return page;
    return [];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "NoSuchBucket") return null;
    throw error;
  }
}

/** Gives the project, in the transaction of the change, a bucket that the engine has yet to make; nothing names the old one any more. */
export function replaceBucket(db: WriteHandle, { name, projectId }: Bucket): void {
  const fresh = bucketNameFor("forgotten", randomBytes(4).toString("hex"));
  db.prepare("DELETE FROM export_grants WHERE bucket = ?").run(name);
  db.prepare("DELETE FROM bucket_pairs WHERE bucket = ?").run(name);
  db.prepare("DELETE FROM job_outputs WHERE job_id IN (SELECT id FROM jobs WHERE bucket = ?)").run(
    name,
  );
  db.prepare(
    "UPDATE buckets SET name = ?, made_at = NULL, rights = NULL WHERE project_id = ? AND name = ?",
  ).run(fresh, projectId, name);
  for (const table of ["jobs", "uploads", "job_inputs"])
    db.prepare(`UPDATE ${table} SET bucket = ? WHERE bucket = ?`).run(fresh, name);
}
