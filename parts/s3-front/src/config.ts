/** What the front is told of its place. It holds no secret. Paths are absolute. */
import { OutputExport } from "@resontech/contracts/appliance-config";
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const Path = Type.String({ pattern: "^/", minLength: 2, maxLength: 4096 });
/** At most 107 bytes: the kernel's limit. */
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });

export const S3FrontConfig = Type.Object(
  {
    listen: Type.Object(
      {
        host: Type.String({ minLength: 1 }),
        port: Type.Integer({ minimum: 0, maximum: 65_535 }),
        tls: Type.Object({ certFile: Path, keyFile: Path }, closed),
      },
      closed,
    ),
    /** Where the engine listens, plain HTTP. */
    engineSocket: SocketPath,
    /** auditd's socket of the producer `s3-front`. */
    auditSocket: SocketPath,
    /** Where the coordinator tells of buckets and keys (s3-front-protocol.ts). */
    coordinatorSocket: SocketPath,
    outputExport: OutputExport,
    /** Where the dashboard's pages come from, `https://NAME:8000`. Absent: no page may ask. */
    pageOrigin: Type.Optional(Type.String({ pattern: "^https://[^/]+$" })),
  },
  closed,
);
export type S3FrontConfig = Static<typeof S3FrontConfig>;
