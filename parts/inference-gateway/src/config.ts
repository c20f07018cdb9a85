/** What the gateway is told of its place. It holds no secret. Paths are absolute. */
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const Path = Type.String({ pattern: "^/", minLength: 2, maxLength: 4096 });
/** At most 107 bytes: the kernel's limit. */
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });

export const GatewayConfig = Type.Object(
  {
    /** Where the coordinator tells who answers (inference-routes.ts). */
    routesSocket: SocketPath,
    /** By which agents know the gateway: its certificate, followed by the intermediate, and the key. */
    certFile: Path,
    keyFile: Path,
    rootCertFile: Path,
    /** Who vouches for the appliance's S3 door. Absent: the root alone. */
    trustFile: Type.Optional(Path),
    /** Of auditd, for this producer alone. */
    auditSocket: SocketPath,
    /** Whom it may dial outside of the appliance. */
    outbound: Type.Object(
      {
        /** Names hosts (outbound.ts), and is read anew when it changes; where there is none, there is no host. */
        hostsFile: Path,
        /** The appliance's own S3 door: names it has in URLs, and where it is. */
        s3: Type.Object(
          {
            names: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { minItems: 1 }),
            address: Type.String({ minLength: 1, maxLength: 253 }),
            port: Type.Integer({ minimum: 1, maximum: 65_535 }),
          },
          closed,
        ),
      },
      closed,
    ),
  },
  closed,
);
/** All that it works by. */
export type ServingConfig = Static<typeof GatewayConfig> & {
  /** Where the front door passes calls of deployments, plain HTTP. */
  socket: string;
  /** Where the journal of calls grows; nobody else reads or writes there. */
  callsDir: string;
  /** Where answers wait that are yet to be posted; nobody else reads or writes there. */
  callbacksDir: string;
};
