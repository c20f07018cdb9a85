import type { FrontAnswer } from "@resontech/contracts/s3-front-protocol";
import type { ServiceCaller } from "../authorization/caller.ts";
import { demand } from "../authorization/demand.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { findBucket } from "../identity/bucket-store.ts";
import { findPair } from "../identity/pair-store.ts";
import { findJobsOfFolder } from "../outputs/jobs-of-folder.ts";
import { leavesByApproval, releasedVersions } from "../storage/export-grants.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { S3ResponseError } from "../storage/s3-transport.ts";
import type { FrontHandler } from "./front-server.ts";

export type AnswerFrontDeps = {
  /** Who asks on this socket. */
  caller: ServiceCaller;
  read: ReadHandle;
  /** Unix milliseconds. */
  now: () => number;
  store: Pick<ObjectStore, "usage" | "stat" | "partBytes">;
  /** Of the engine's admin: the coordinator's own. */
  adminAccessKeyId: string;
};

/** Answers the S3 front from the coordinator's rows, and counts buckets through the object store itself. */
export function answerFront({
  caller,
  read,
  now,
  store,
  adminAccessKeyId,
}: AnswerFrontDeps): FrontHandler {
  return async (question): Promise<FrontAnswer> => {
    demand(caller, `front.${question.ask}`, "every");
    const { id } = question;
    switch (question.ask) {
      case "principal": {
        const { ask, accessKeyId } = question;
        const nobody = { subject: null, bucket: null };
        if (accessKeyId === adminAccessKeyId)
          return { id, ok: true, ask, kind: "coordinator", ...nobody };
        const pair = findPair(read, accessKeyId);
        if (pair === null) return { id, ok: true, ask, kind: "unknown", ...nobody };
        const { userId, name, createdAt } = pair;
        return { id, ok: true, ask, kind: "user", subject: userId, bucket: { name, createdAt } };
      }
      case "owner":
        return {
          id,
          ok: true,
          ask: question.ask,
          owner: findBucket(read, question.bucket)?.logId ?? null,
        };
      case "quota":
        return {
          id,
          ok: true,
          ask: question.ask,
          quotaBytes: findBucket(read, question.bucket)?.quotaBytes ?? null,
        };
      case "bucket": {
        const { ask, bucket } = question;
        const known = findBucket(read, bucket);
        const usedBytes = known === null ? null : await usedBytesOf(store, bucket);
        if (known === null || usedBytes === null) return { id, ok: true, ask, bucket: null };
        return {
          id,
          ok: true,
          ask,
          bucket: { owner: known.logId, quotaBytes: known.quotaBytes, usedBytes },
        };
      }
      case "object": {
        const { ask, bucket, key, versionId } = question;
        const version = await store.stat(bucket, key, versionId ?? undefined);
        return { id, ok: true, ask, sizeBytes: version?.sizeBytes ?? null };
      }
      case "export": {
        const { ask, bucket, key, subject } = question;
        const byApproval = leavesByApproval(read, bucket);
        const versions = byApproval
          ? releasedVersions(read, { bucket, key, userId: subject }, now())
          : [];
        return { id, ok: true, ask, byApproval, versions };
      }
      case "outputs":
        return {
          id,
          ok: true,
          ask: question.ask,
          ...findJobsOfFolder(read, question.bucket, question.folder),
        };
      case "part": {
        const { ask, bucket, key, uploadId, partNumber } = question;
        return {
          id,
          ok: true,
          ask,
          sizeBytes: await store.partBytes(bucket, key, uploadId, partNumber),
        };
      }
    }
  };
}

/** Asks how much a bucket holds; null while the engine has no such bucket: its row is written first. */
async function usedBytesOf(
  store: AnswerFrontDeps["store"],
  bucket: string,
): Promise<number | null> {
  try {
    return (await store.usage(bucket)).usedBytes;
  } catch (error) {
    if (error instanceof S3ResponseError && error.code === "NoSuchBucket") return null;
    throw error;
  }
}
