/** `<root>/etc/serving.json`: written by appliance/, read and validated by serving/. It holds no secret. Paths are absolute. */
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const Path = Type.String({ pattern: "^/", minLength: 2, maxLength: 4096 });
/** At most 107 bytes: the kernel's limit. */
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });

export const ServingConfig = Type.Object(
  {
    /** Where the front door passes calls of deployments, plain HTTP. */
    socket: SocketPath,
    /** Where the coordinator tells who answers (inference-routes.ts). */
    routesSocket: SocketPath,
    /** By which agents know the gateway: its certificate, followed by the intermediate, and the key. */
    certFile: Path,
    keyFile: Path,
    rootCertFile: Path,
    /** Of auditd, for this producer alone. */
    auditSocket: SocketPath,
    /** Where the journal of calls grows; nobody else reads or writes there. */
    callsDir: Path,
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type ServingConfig = Static<typeof ServingConfig>;
