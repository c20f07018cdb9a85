/** What the appliance knows of a person by name, and how that ends: what an erasure of the log's values leaves standing. */
import type { OperatorAnswer, OperatorAsked } from "@resontech/contracts/operator-routes";
import { ApiError } from "../api-error.ts";
import type { OperationRunner } from "../audited-operation.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { KeycloakAccounts } from "../identity/accounts/keycloak-accounts.ts";
import { subjectOf } from "../identity/people-store.ts";
import {
  ownBucketOf,
  removeBucket,
  replaceBucket,
  requireNobodyElse,
} from "../identity/own-bucket.ts";
import {
  accountOf,
  forgetPerson,
  forgottenName,
  personalTraces,
} from "../identity/personal-data.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { UserViews } from "./user-views.ts";

export type ForgetUserDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  now: () => number;
  store: ObjectStore;
  users: Pick<UserViews, "of">;
  /** Null where the appliance has no identity provider. */
  people: { accounts: Pick<KeycloakAccounts, "remove"> } | null;
};

/** @throws ApiError not_found */
export async function tracesOf(
  deps: ForgetUserDeps,
  username: string,
): Promise<OperatorAnswer<"user-traces">> {
  const { read, store, users } = deps;
  const { userId, livingJobs } = users.of(username);
  const bucket = ownBucketOf(read, userId);
  return {
    ...{ userId, username, livingJobs },
    hasAccount: subjectOf(read, userId) !== null,
    directory: accountOf(read, userId)?.source ?? null,
    bucket:
      bucket === null
        ? null
        : {
            name: bucket.name,
            ...(bucket.isMade ? await store.usage(bucket.name) : { usedBytes: 0, objects: 0 }),
          },
    rows: personalTraces(read, userId),
  };
}

/**
 * Takes the person's account at Keycloak, the name and what is personal from the rows; with the bucket, that and all that lies in it. Each step can be
 * repeated, and the name is the last to go: after a kill the same command goes on.
 *
 * @throws ApiError not_found; user_not_disabled; user_busy while jobs run; bucket_shared; identity_unavailable
 */
export async function forgetUser(
  deps: ForgetUserDeps,
  { username, withBucket }: OperatorAsked<"user-forget">,
  audit: OperationRunner,
): Promise<OperatorAnswer<"user-forget">> {
  const { read, store, people, commit, now, users } = deps;
  const { userId, isDisabled, livingJobs } = users.of(username);
  if (!isDisabled)
    throw new ApiError("user_not_disabled", `the user ${username} can still sign in`);
  if (livingJobs > 0)
    throw new ApiError("user_busy", `${livingJobs} jobs of ${username} have not ended`);
  const own = ownBucketOf(read, userId);
  if (own !== null && withBucket) requireNobodyElse(read, own, userId);
  const subject = subjectOf(read, userId);
  if (subject !== null && people === null)
    throw new ApiError("identity_unavailable", "this appliance has no identity provider");
  const directory = accountOf(read, userId)?.source ?? null;
  await audit.operation(
    {
      type: "iam.user.change",
      object: { kind: "user", id: userId },
      detail: { change: "forgotten" },
    },
    async (operation) => {
      if (subject !== null) await people?.accounts.remove(subject);
      if (own?.isMade === true && withBucket) await removeBucket(store, own.name);
      await commit.run((db) => {
        forgetPerson(db, userId, now());
        if (own !== null && withBucket) replaceBucket(db, own);
        operation.completeIn(db);
      });
    },
  );
  return {
    ...{ userId, username: forgottenName(userId) },
    bucket: own === null || withBucket ? null : own.name,
    directory,
    rows: personalTraces(read, userId),
  };
}
