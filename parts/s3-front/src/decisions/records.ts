import { joinKey } from "@resontech/audit/producer";
import type { EventDetail, EventType } from "@resontech/contracts/audit-catalogue";
import type { Outcome } from "@resontech/contracts/audit-event";
import type { Decision } from "@resontech/contracts/policies";
import type { S3Request } from "./classify.ts";
import type { S3Refusal } from "./s3-error.ts";

/** What a record speaks of. `id` is the bucket's owner: its name holds the user's, so it stands there as a commitment alone. */
export type Target =
  | { kind: "object"; path: string }
  | { kind: "bucket"; id: string | null; name: string }
  | { kind: "key"; id: string | null }
  | { kind: "appliance"; id: "appliance" };

export type Record = {
  type: EventType;
  name: string;
  target: Target;
  decision?: Decision;
  /** How it ended, in a fact; an operation's own is its closing record's. */
  outcome?: Outcome;
  detail?: EventDetail;
};

/** An object that a request for several deletions names. `job` is the finished one whose output it is. */
export type Listed = { key: string; versionId: string | null; job: string | null };

/** How the engine, or the door, answered. */
export type Answer = { status: number; code: string | null; bytes: number | null };

/** The `requested` of a change; null for what is no operation. @param job whose output is deleted */
export function operationRecord(
  request: S3Request,
  owner: string | null,
  storedBytes: number,
  job: string | null,
): Record | null {
  const { operation, versionId, uploadId, urlSha256 } = request;
  const { trace, name } = operation;
  const ofOwner = owner === null ? {} : { bucket: owner };
  const ofUrl = urlSha256 === null ? {} : { url_sha256: urlSha256 };
  const make = (type: EventType, detail: EventDetail): Record => ({
    type,
    name,
    target: targetOf(request, owner),
    detail,
  });
  switch (trace.kind) {
    case "write":
      return make("data.object.write", {
        ...ofOwner,
        bytes: storedBytes,
        ...(operation.copies ? { copied: true } : {}),
        ...ofUrl,
      });
    case "delete":
      return make("data.object.delete", {
        ...ofOwner,
        ...(versionId === null ? {} : { version: true }),
        ...(job === null ? {} : { job }),
      });
    case "change":
      return make("data.object.change", { ...ofOwner, aspect: trace.aspect });
    case "multipart":
      return make("data.object.multipart", {
        ...{ ...ofOwner, step: trace.step },
        ...(uploadId === null ? {} : { upload_sha256: joinKey(uploadId) }),
      });
    case "bucket-change":
      return make("data.bucket.change", {
        aspect: trace.aspect,
        ...(operation.method === "DELETE" ? { removed: true } : {}),
      });
    case "key-change":
      return make("key.store.change", { removed: operation.name === "DeleteUser" });
    case "read":
    case "list":
    case "inspect":
    case "delete-many":
    case "part":
      return null;
  }
}

/** How an answer reads in the log; HEAD brings a status alone. */
export function outcomeOf({ status, code }: Pick<Answer, "status" | "code">): Outcome {
  return { code: code ?? (status < 400 ? "ok" : `Http${status}`), status };
}

/** The record of a read, as it was answered; null for what is no read. One that was refused is no access. */
export function readRecord(
  request: S3Request,
  owner: string | null,
  answer: Answer,
): Record | null {
  const { operation, versionId, urlSha256, bucket } = request;
  const { status, code, bytes } = answer;
  const { trace, name } = operation;
  const outcome = outcomeOf(answer);
  const said = { status, ...(code === null ? {} : { code }) };
  const target = targetOf(request, owner);
  const make = (type: EventType, detail: EventDetail): Record => ({
    type,
    name,
    target,
    outcome,
    detail,
  });
  if (status === 401 || status === 403)
    switch (trace.kind) {
      case "read":
        return make("data.object.refused", {
          ...(owner === null ? {} : { bucket: owner }),
          ...{ status, code: outcome.code },
          ...(urlSha256 === null ? {} : { url_sha256: urlSha256 }),
        });
      case "list":
      case "inspect":
        return bucket === null
          ? make("auth.refused", { reason: outcome.code })
          : make("data.bucket.refused", { status, code: outcome.code });
      default:
        return null;
    }
  switch (trace.kind) {
    case "read":
      return make("data.object.read", {
        ...(owner === null ? {} : { bucket: owner }),
        ...said,
        // What a mistake is told in is none of the object's.
        ...(bytes === null || status >= 400 ? {} : { bytes }),
        ...(versionId === null ? {} : { version: true }),
        ...(urlSha256 === null ? {} : { url_sha256: urlSha256 }),
      });
    case "list":
      return request.bucket === null
        ? make("data.buckets.list", said)
        : make("data.bucket.list", said);
    case "inspect":
      return make("data.bucket.inspect", { ...said, aspect: trace.aspect });
    case "write":
    case "delete":
    case "delete-many":
    case "change":
    case "bucket-change":
    case "multipart":
    case "key-change":
    case "part":
      return null;
  }
}

/** A request for several deletions, and each object that it names. */
export function deleteManyRecords(
  request: S3Request,
  owner: string | null,
  listed: readonly Listed[],
): { operation: Record; objects: Record[] } {
  const { name } = request.operation;
  return {
    operation: {
      type: "data.bucket.delete",
      name,
      target: targetOf(request, owner),
      detail: { objects: listed.length },
    },
    objects: listed.map((one) => listedRecord("data.object.delete.listed", request, owner, one)),
  };
}

/** What became of each object that a request for several deletions named, and of the request. */
export function endOfDeletions(
  request: S3Request,
  owner: string | null,
  listed: readonly Listed[],
  codes: readonly string[],
): { phase: "completed" | "failed" | "denied"; code: string; objects: Record[] } {
  const failed = codes.filter((code) => code !== "ok");
  const isWhole = failed.length === codes.length;
  const phase =
    failed.length === 0
      ? "completed"
      : isWhole && failed.every((code) => code === "AccessDenied")
        ? "denied"
        : "failed";
  return {
    phase,
    code: failed.length === 0 ? "ok" : isWhole ? (failed[0] ?? "ok") : "partial",
    objects: listed.map((one, at) => ({
      ...listedRecord("data.object.delete.ended", request, owner, one),
      outcome: { code: codes[at] ?? "unknown" },
    })),
  };
}

function listedRecord(
  type: EventType,
  request: S3Request,
  owner: string | null,
  { key, versionId, job }: Listed,
): Record {
  return {
    ...{ type, name: request.operation.name },
    target: { kind: "object", path: `${request.bucket ?? ""}/${key}` },
    detail: {
      ...(owner === null ? {} : { bucket: owner }),
      ...(versionId === null ? {} : { version: true }),
      ...(job === null ? {} : { job }),
    },
  };
}

/** What the door refused by itself although it understood it; null for a mistake that asks for nothing forbidden. */
export function refusalRecord(
  request: S3Request,
  owner: string | null,
  { status, code, policy }: Pick<S3Refusal, "status" | "code" | "policy">,
): Record | null {
  const decided =
    policy === null
      ? {}
      : { decision: { effect: "deny", policy_ids: [policy] } satisfies Decision };
  if (request.key === null) {
    if (status !== 403) return null;
    const target = { kind: "appliance", id: "appliance" } as const;
    const outcome = { code, status };
    return {
      type: "auth.refused",
      name: request.operation.name,
      target,
      ...decided,
      outcome,
      detail: { reason: code },
    };
  }
  return {
    type: "data.object.refused",
    name: request.operation.name,
    target: targetOf(request, owner),
    ...decided,
    outcome: { code, status },
    detail: {
      ...(owner === null ? {} : { bucket: owner }),
      status,
      code,
      bytes: request.length.storedBytes,
    },
  };
}

function targetOf({ operation, bucket, key }: S3Request, owner: string | null): Target {
  if (operation.trace.kind === "key-change") return { kind: "key", id: null };
  if (bucket === null) return { kind: "appliance", id: "appliance" };
  return key === null
    ? { kind: "bucket", id: owner, name: bucket }
    : { kind: "object", path: `${bucket}/${key}` };
}
