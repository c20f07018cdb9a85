/** `<root>/etc/s3-front.json` (0440, rt-s3): written by appliance/, read and validated by s3-front/. It holds no secret. Paths are absolute. */
import { type Static, Type } from "typebox";
import { OutputExport } from "./appliance-config.ts";

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
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type S3FrontConfig = Static<typeof S3FrontConfig>;

/**
 * What Node is told beside its program. Every 16 KiB of an upload is a buffer outside the heap whose few hundred bytes inside it are all that the
 * collector of young objects sees: in a young space of the usual 16 MiB buffers of 64 MB gather first, and that makes V8 mark the whole heap. In
 * one of 2 MiB they go at 20 MB, and their memory is used again while it is warm (measured: 1.05 CPU seconds for a gigabyte
 * against 1.5). The collector's helper threads would take the cores that engine and client need.
 */
export const S3_FRONT_NODE_FLAGS = ["--single-threaded-gc", "--max-semi-space-size=2"] as const;
