/**
 * A user with default project, bucket, S3 key pair and first platform key. The first user and every further one come through
 * here, over the control socket: no route leads to it.
 */
import type { FirstDuty } from "@resontech/contracts/operator-users";
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import { ApiError } from "../api-error.ts";
import type { OperationDeps } from "../audited-operation.ts";
import type { OperatorCaller } from "../authorization/caller.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { BucketKeys } from "./bucket-keys.ts";
import { type Bucket, findBucketOfProject, findUser, noteMade } from "./bucket-store.ts";
import { createPerson, createUser } from "./create-user.ts";
import { subjectOf } from "./people-store.ts";
import { rolesOf } from "./role-holders.ts";
import { identityOperation } from "./identity-operation.ts";
import type { KeyKind } from "./decisions/platform-key.ts";
import { drawKey } from "./draw-key.ts";
import { isUsername } from "./decisions/user-names.ts";
import { hasAnyKey, insertKey } from "./key-store.ts";
import { pairsOf } from "./pair-store.ts";
import { findDefaultProject } from "./project-store.ts";

const FIRST_KEY_LIFE_S = 30 * 24 * 3600;

export type AddUserDeps = OperationDeps & {
  read: ReadHandle;
  store: Pick<ObjectStore, "ensureBucket">;
  bucketKeys: BucketKeys;
  keyKind: KeyKind;
  quotaBytes: number;
  now: () => number;
  caller: OperatorCaller;
};

/** Every secret is here and nowhere else. */
export type AddedUser = {
  userId: string;
  projectId: string;
  bucket: string;
  platformKey: string;
  accessKeyId: string;
  secretAccessKey: string;
};

/**
 * Safe to repeat after a crash: a user who never got bucket and key is finished.
 * @throws ApiError username_invalid, user_exists
 */
export async function addUser(deps: AddUserDeps, username: string): Promise<AddedUser> {
  if (!isUsername(username)) throw new ApiError("username_invalid", "the user name is not valid");
  const known = findUser(deps.read, username);
  // A disabled user has no key pair, and is whole all the same.
  if (
    known?.isDisabled ||
    // Who has a duty has no project and no key.
    (known !== null && findDefaultProject(deps.read, known.id) === null) ||
    (known !== null && pairsOf(deps.read, known.id).length > 0 && hasAnyKey(deps.read, known.id))
  )
    throw new ApiError("user_exists", "there is a user of this name");
  const userId = known?.id ?? (await createUser(deps, { username, subject: null }));
  const projectId = findDefaultProject(deps.read, userId);
  const bucket = projectId === null ? null : findBucketOfProject(deps.read, projectId);
  if (projectId === null || bucket === null)
    throw new Error("a user without default project and bucket");
  const pair = await createBucket(deps, userId, bucket);
  const platformKey = await mintFirstKey(deps, userId, projectId);
  return { userId, projectId, bucket: bucket.name, platformKey, ...pair };
}

/**
 * Somebody with a duty on the whole appliance: no project, bucket, key pair or platform key.
 * @throws ApiError username_invalid; user_exists, but not for who was made so and never got further
 */
export async function addPerson(
  deps: AddUserDeps,
  username: string,
  duty: FirstDuty,
): Promise<string> {
  if (!isUsername(username)) throw new ApiError("username_invalid", "the user name is not valid");
  const known = findUser(deps.read, username);
  if (known === null) return await createPerson(deps, { username, duty });
  const isSame =
    findDefaultProject(deps.read, known.id) === null &&
    rolesOf(deps.read, known.id).join() === duty &&
    subjectOf(deps.read, known.id) === null;
  if (!isSame) throw new ApiError("user_exists", "there is a user of this name");
  return known.id;
}

async function createBucket(deps: AddUserDeps, userId: string, { name, logId }: Bucket) {
  // The bucket's name holds the user's: the leaf names the owner instead.
  const object = { kind: "bucket", id: logId } as const;
  return identityOperation(
    deps,
    "data.bucket.create",
    object,
    { quota_bytes: deps.quotaBytes },
    { "bucket-alias": name },
    async (close) => {
      await deps.store.ensureBucket(name);
      return deps.bucketKeys.replace(name, userId, (db) => {
        noteMade(db, name, deps.now());
        close(db);
      });
    },
  );
}

async function mintFirstKey(deps: AddUserDeps, userId: string, projectId: string): Promise<string> {
  const { key, row } = drawKey(deps.keyKind);
  const object = { kind: "key", id: row.id } as const;
  const detail = { expires_in_s: FIRST_KEY_LIFE_S, project: projectId, scopes: [...KEY_SCOPES] };
  await identityOperation(deps, "key.bootstrap", object, detail, {}, (close) =>
    deps.commit.run((db) => {
      const createdAt = deps.now();
      insertKey(db, {
        ...{ ...row, name: "first key", userId, projectId, scopes: KEY_SCOPES },
        ...{ createdAt, expiresAt: createdAt + FIRST_KEY_LIFE_S * 1000 },
      });
      close(db);
    }),
  );
  return key;
}
