/** What a backup consists of. It is written last: a backup without it was cut, and counts as none. */
import { type Static, Type } from "typebox";

export const FORMAT = "resontech-backup/1";
const closed = { additionalProperties: false };
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Bytes = Type.Integer({ minimum: 0 });
export const BACKUP_ID = "^[0-9]{8}T[0-9]{6}Z$";
export const PART_NAME = "^[a-z][a-z0-9-]{0,63}$";

/** One file of the backup, compressed by gzip and encrypted to the recovery key. */
const ManifestPart = Type.Object(
  {
    name: Type.String({ pattern: PART_NAME }),
    kind: Type.Enum(["database", "folder", "archive", "objects"]),
    /** Of the file as it lies on the target. */
    sha256: Sha256,
    bytes: Bytes,
    /** Of what it holds, before it was compressed. */
    content: Type.Object({ sha256: Sha256, bytes: Bytes }, closed),
    /** `user_version` of a database. */
    schema: Type.Optional(Bytes),
    /** When a database was as it is here, or earlier; milliseconds since the epoch. */
    readAtMs: Type.Optional(Bytes),
    /** Below the root, where it is put back; null for what only some restores put back. */
    path: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._/-]{0,255}$" }),
  },
  closed,
);
export type ManifestPart = Static<typeof ManifestPart>;

export const Manifest = Type.Object(
  {
    format: Type.Literal(FORMAT),
    id: Type.String({ pattern: BACKUP_ID }),
    takenAt: Type.String({ pattern: "^[0-9T:.-]{23}Z$" }),
    appliance: Type.String({ maxLength: 128 }),
    /** Version of the release that wrote it, and alone puts it back. */
    release: Type.String({ maxLength: 128 }),
    recipient: Type.String({ maxLength: 128 }),
    parts: Type.Array(ManifestPart, { maxItems: 256 }),
    objects: Type.Object(
      {
        count: Bytes,
        bytes: Bytes,
        /** Of the list of names, `objects.names`, that says which objects this backup needs. */
        namesSha256: Sha256,
      },
      closed,
    ),
  },
  closed,
);
export type Manifest = Static<typeof Manifest>;
