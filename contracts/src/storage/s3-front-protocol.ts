/**
 * What the S3 front asks the coordinator over a Unix socket that these two alone can open: one JSON object a line each way. A connection
 * has many questions under way; answers name theirs by `id` and come in any order. The front holds no key and no table of its own.
 *
 * The first line is {@link FrontHello}, and the first answer {@link FrontHelloAnswer}; questions may follow at once. Both sides pass over fields that
 * they do not know (readable.ts).
 */
import { type Static, Type } from "typebox";
import { ProtocolVersions } from "../versions/protocol-versions.ts";
import { closed } from "../closed.ts";

const Id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Bucket = Type.String({ minLength: 1, maxLength: 63 });

/**
 * Version 2 has the question `export`: a coordinator of version 1 lets outputs leave as members like. From version 3 on the coordinator tells the front which
 * key pairs are gone ({@link FrontForget}).
 */
export const FRONT_PROTOCOL = { min: 1, max: 3 } as const;

/** Told and not asked for: whose these access keys were is to be remembered no more. */
export const FrontForget = Type.Object(
  {
    forget: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 64,
    }),
  },
  closed,
);
export type FrontForget = Static<typeof FrontForget>;

/** Which versions the front speaks. One that says no hello speaks version 1. */
export const FrontHello = Type.Object({ hello: ProtocolVersions }, closed);
export type FrontHello = Static<typeof FrontHello>;
/** After a refusal the connection ends. */
export const FrontHelloAnswer = Type.Union([
  Type.Object({ hello: Type.Literal("agreed"), protocol: Type.Integer({ minimum: 1 }) }, closed),
  Type.Object(
    {
      hello: Type.Literal("refused"),
      code: Type.String({ maxLength: 64 }),
      message: Type.String({ maxLength: 512 }),
    },
    closed,
  ),
]);
export type FrontHelloAnswer = Static<typeof FrontHelloAnswer>;

/** Longest line either way, in bytes: a key of 1,024 bytes whose every byte is escaped fits. */
export const MAX_FRONT_LINE_BYTES = 16_384;

export const FrontQuestion = Type.Union([
  /** What the audit log calls the bucket: the user whose first project it is of, or the project. */
  Type.Object({ id: Id, ask: Type.Literal("owner"), bucket: Bucket }, closed),
  /** Its quota, and what it holds now: all versions and the parts of open uploads, listed through the object store. */
  Type.Object({ id: Id, ask: Type.Literal("bucket"), bucket: Bucket }, closed),
  /** Its quota alone, which the operator may change at any time. */
  Type.Object({ id: Id, ask: Type.Literal("quota"), bucket: Bucket }, closed),
  /** Whose key pair it is. */
  Type.Object(
    {
      id: Id,
      ask: Type.Literal("principal"),
      accessKeyId: Type.String({ minLength: 1, maxLength: 128 }),
    },
    closed,
  ),
  /** Whose outputs lie in a folder: the output root of jobs, or `logs/JOB`, `ckpt/JOB`. */
  Type.Object(
    {
      id: Id,
      ask: Type.Literal("outputs"),
      bucket: Bucket,
      folder: Type.String({ minLength: 1, maxLength: 1024 }),
    },
    closed,
  ),
  /** Whether an output may leave: read by a member's key pair, where the project's outputs leave by approval alone. */
  Type.Object(
    {
      id: Id,
      ask: Type.Literal("export"),
      bucket: Bucket,
      key: Type.String({ minLength: 1, maxLength: 1024 }),
      /** The member whose key pair it is. */
      subject: Type.String({ minLength: 1, maxLength: 64 }),
    },
    closed,
  ),
  /** How large a part of an open upload is. */
  Type.Object(
    {
      id: Id,
      ask: Type.Literal("part"),
      bucket: Bucket,
      key: Type.String({ minLength: 1, maxLength: 1024 }),
      uploadId: Type.String({ minLength: 1, maxLength: 128 }),
      partNumber: Type.Integer({ minimum: 1, maximum: 10_000 }),
    },
    closed,
  ),
  /** How large the source of a copy is, or what was made of it. */
  Type.Object(
    {
      id: Id,
      ask: Type.Literal("object"),
      bucket: Bucket,
      key: Type.String({ minLength: 1, maxLength: 1024 }),
      versionId: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()]),
    },
    closed,
  ),
]);
export type FrontQuestion = Static<typeof FrontQuestion>;

/** `user`: a member's pair for a project's bucket, now or just before its rotation; `coordinator`: the engine's admin. */
const PrincipalKind = Type.Union([
  Type.Literal("user"),
  Type.Literal("coordinator"),
  Type.Literal("unknown"),
]);
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Subject = Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()]);

/** `null` where there is no such bucket, key or object. */
export const FrontAnswer = Type.Union([
  Type.Object(
    {
      id: Id,
      ok: Type.Literal(true),
      ask: Type.Literal("quota"),
      quotaBytes: Type.Union([Bytes, Type.Null()]),
    },
    closed,
  ),
  Type.Object(
    { id: Id, ok: Type.Literal(true), ask: Type.Literal("owner"), owner: Subject },
    closed,
  ),
  Type.Object(
    {
      id: Id,
      ok: Type.Literal(true),
      ask: Type.Literal("bucket"),
      bucket: Type.Union([
        Type.Object(
          {
            owner: Type.String({ minLength: 1, maxLength: 64 }),
            quotaBytes: Bytes,
            usedBytes: Bytes,
          },
          closed,
        ),
        Type.Null(),
      ]),
    },
    closed,
  ),
  Type.Object(
    {
      id: Id,
      ok: Type.Literal(true),
      ask: Type.Literal("principal"),
      kind: PrincipalKind,
      subject: Subject,
      /** The one bucket that the pair is for. `createdAt` in milliseconds since 1970. */
      bucket: Type.Union([Type.Object({ name: Bucket, createdAt: Bytes }, closed), Type.Null()]),
    },
    closed,
  ),
  /** `job` is the last one of this folder, `isOver` whether all of it have ended. */
  Type.Object(
    {
      id: Id,
      ok: Type.Literal(true),
      ask: Type.Literal("outputs"),
      job: Subject,
      isOver: Type.Boolean(),
    },
    closed,
  ),
  /** `versions` that the member may read now; more than none only where it goes by approval. */
  Type.Object(
    {
      id: Id,
      ok: Type.Literal(true),
      ask: Type.Literal("export"),
      byApproval: Type.Boolean(),
      versions: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 64 }),
    },
    closed,
  ),
  Type.Object(
    {
      id: Id,
      ok: Type.Literal(true),
      ask: Type.Literal("object"),
      sizeBytes: Type.Union([Bytes, Type.Null()]),
    },
    closed,
  ),
  Type.Object(
    {
      id: Id,
      ok: Type.Literal(true),
      ask: Type.Literal("part"),
      sizeBytes: Type.Union([Bytes, Type.Null()]),
    },
    closed,
  ),
  /** The coordinator could not find out; the front then refuses what it asked for. */
  Type.Object(
    { id: Id, ok: Type.Literal(false), message: Type.String({ maxLength: 512 }) },
    closed,
  ),
]);
export type FrontAnswer = Static<typeof FrontAnswer>;
