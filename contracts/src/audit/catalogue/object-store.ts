/** Data as it passes the S3 front. */
import { Type } from "typebox";
import { Code, Count, PlainId } from "../audit-event.ts";
import { type CatalogueEntry, DAY, fact, HOUR, operation } from "./entry.ts";
import { Claimed, OfUpload, OfUrl, Repeated } from "./fields.ts";
import { closed } from "../../closed.ts";

/** As the caller saw it. */
const Status = Type.Integer({ minimum: 100, maximum: 599 });

/** The finished job whose output it was. */
const OfOutput = { job: Type.Optional(PlainId) };

export const OBJECT_STORE_EVENTS = {
  "data.object.read": fact(
    "object",
    "An object or its attributes were asked for at the S3 door; durable before the first byte was sent.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        status: Status,
        bytes: Type.Optional(Count),
        version: Type.Optional(Type.Boolean()),
        code: Type.Optional(Code),
        ...OfUrl,
        ...Claimed,
      },
      closed,
    ),
  ),
  "data.object.write": operation(
    "object",
    "An object was written or copied through the S3 door.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        bytes: Type.Optional(Count),
        copied: Type.Optional(Type.Boolean()),
        ...OfUrl,
        ...Claimed,
      },
      closed,
    ),
    { maxOpenMs: DAY },
  ),
  "data.object.multipart": operation(
    "object",
    "A multipart upload was opened, completed or aborted through the S3 door; its parts have no record of their own.",
    Type.Object({ bucket: Type.Optional(PlainId), step: Code, ...OfUpload, ...Claimed }, closed),
    { maxOpenMs: HOUR },
  ),
  "data.object.delete": operation(
    "object",
    "An object, or one version of it, was deleted through the S3 door; `job` says whose output it was.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        version: Type.Optional(Type.Boolean()),
        ...OfOutput,
        ...Claimed,
      },
      closed,
    ),
  ),
  "data.object.delete.listed": fact(
    "object",
    "One of the objects that a request for several deletions names; the operation is `data.bucket.delete`.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        version: Type.Optional(Type.Boolean()),
        ...OfOutput,
        ...Claimed,
      },
      closed,
    ),
  ),
  "data.object.delete.ended": fact(
    "object",
    "What became of one of the objects that a request for several deletions named: its outcome says whether it was deleted.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        version: Type.Optional(Type.Boolean()),
        ...OfOutput,
        ...Claimed,
      },
      closed,
    ),
  ),
  "data.object.change": operation(
    "object",
    "Tags, retention, legal hold or access list of an object were changed through the S3 door.",
    Type.Object({ bucket: Type.Optional(PlainId), aspect: Code, ...Claimed }, closed),
  ),
  "data.object.refused": fact(
    "object",
    "A request for an object was refused: at the S3 door or the API (quota, export control), or a read by the object store (signature, rights).",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        status: Status,
        code: Code,
        bytes: Type.Optional(Count),
        ...OfUrl,
        ...{ ...Claimed, ...Repeated },
      },
      closed,
    ),
  ),
  "data.bucket.refused": fact(
    "bucket",
    "A request to list a bucket, or to read of its state, was refused by the object store: signature, rights.",
    Type.Object({ status: Status, code: Code, ...Claimed, ...Repeated }, closed),
  ),
  "data.bucket.delete": operation(
    "bucket",
    "Several objects of a bucket were deleted in one request; each is named by a record `data.object.delete.listed`.",
    Type.Object({ objects: Count, ...Claimed }, closed),
    { maxOpenMs: HOUR },
  ),
  "data.bucket.list": fact(
    "bucket",
    "Objects, versions or open uploads of a bucket were listed at the S3 door.",
    Type.Object({ status: Status, code: Type.Optional(Code), ...Claimed }, closed),
  ),
  "data.bucket.inspect": fact(
    "bucket",
    "A bucket's existence, policy or configuration was read at the S3 door.",
    Type.Object({ status: Status, aspect: Code, code: Type.Optional(Code), ...Claimed }, closed),
  ),
  "data.bucket.change": operation(
    "bucket",
    "A bucket was made, removed, or its policy or configuration changed through the S3 door.",
    Type.Object({ aspect: Code, removed: Type.Optional(Type.Boolean()), ...Claimed }, closed),
  ),
  "data.buckets.list": fact(
    "appliance",
    "The buckets were listed at the S3 door.",
    Type.Object({ status: Status, code: Type.Optional(Code), ...Claimed }, closed),
  ),
  "key.store.change": operation(
    "key",
    "A key pair was made in or removed from the object store.",
    Type.Object({ removed: Type.Boolean(), ...Claimed }, closed),
  ),
} as const satisfies Record<string, CatalogueEntry>;
