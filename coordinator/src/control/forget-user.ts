/** What the appliance knows of a person by name, and how that ends: what an erasure of the log's values leaves standing. */
import type { OperatorReply } from "@resontech/contracts/operator-control";
import { ApiError } from "../api-error.ts";
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
import { byOperator } from "./by-operator.ts";
import type { OperatorChangesDeps } from "./operator-changes.ts";

export type ForgetUserDeps = OperatorChangesDeps & { store: ObjectStore };
type Reply<V extends OperatorReply["verb"]> = Extract<OperatorReply, { verb: V }>;

/** @throws ApiError not_found */
export async function tracesOf(
  deps: ForgetUserDeps,
  username: string,
): Promise<Reply<"user-traces">> {
  const { read, store, views } = deps;
  const { userId, livingJobs } = views.user(username);
  const bucket = ownBucketOf(read, userId);
  return {
    ...{ ok: true, verb: "user-traces", userId, username, livingJobs },
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
 * @throws ApiError not_found; user_enabled while nobody disabled the user; user_busy while jobs run; bucket_shared; identity_unavailable
 */
export async function forgetUser(
  deps: ForgetUserDeps,
  { username, withBucket }: { username: string; withBucket: boolean },
): Promise<Reply<"user-forget">> {
  const { read, store, people, commit, now, views } = deps;
  const { userId, isDisabled, livingJobs } = views.user(username);
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
  await byOperator(
    deps,
    "iam.user.change",
    { kind: "user", id: userId },
    { change: "forgotten" },
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
    ...{ ok: true, verb: "user-forget", userId, username: forgottenName(userId) },
    bucket: own === null || withBucket ? null : own.name,
    directory,
    rows: personalTraces(read, userId),
  };
}
