/** `<root>/etc/agent.json` (0400, root): one node's agent. Paths are absolute. */
import { type Static, Type } from "typebox";
import { ReleaseName } from "../release/release-name.ts";
import { PortRange } from "./port-range.ts";
import { UidRange } from "./uid-range.ts";
import { closed } from "../closed.ts";

const Path = Type.String({ minLength: 1, maxLength: 4096 });

export const AgentConfig = Type.Object(
  {
    node: Type.String(),
    /** Where the container engine looks for who vouches for the registry. Absent: nobody tells it of others than the root. */
    registryCertsDir: Type.Optional(Path),
    /** Where to join: `https://<name>:8000`. */
    apiUrl: Type.String(),
    rootCertFile: Path,
    /** IPv4 address that the other nodes reach this one at; a loopback address says that none does. */
    address: Type.String({ pattern: "^[0-9]{1,3}(\\.[0-9]{1,3}){3}$" }),
    /** Ports of `address` where this node's agent may listen for the agents of an attempt's other nodes. */
    jobPorts: PortRange,
    /** Certificate, key, spool and member folders; 0700. */
    dataDir: Path,
    /** One-use join token; removed by the agent once it holds a certificate. Absent after the join. */
    joinTokenFile: Type.Union([Path, Type.Null()]),
    containerEngine: Type.Object(
      { socket: Path, kind: Type.Union([Type.Literal("podman"), Type.Literal("docker")]) },
      closed,
    ),
    /** Static binary for PID 1 of job containers, and the Python of parts/agent/runners/. */
    initBinary: Path,
    runnersDir: Path,
    /** Folder of programs that come before the host's own: mount, nft and the like. Absent: the host's alone. */
    toolsDir: Type.Optional(Path),
    /** CPU slots on a node; null = one per core, and none beside accelerators. */
    cpuWorkers: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    /** CPU slots take work only once a container ran on the node; accelerators always do. */
    tryProcessors: Type.Optional(Type.Boolean()),
    /** Uids (= gids) of job containers, each member's its own; no user of the host. Absent: `DEFAULT_JOB_UIDS`. */
    jobUids: Type.Optional(UidRange),
    /** Prefix of containers, networks and mounts, so that two instances on a host never sweep each other's. */
    instance: Type.String(),
    /** Unix socket where the agent shows that it turns; absent where no supervisor asks. */
    livenessSocket: Type.Optional(Path),
    /** A host that joined: where it is installed and what runs there. Absent on the appliance's own host, whose installer upgrades it. */
    upgrade: Type.Optional(Type.Object({ root: Path, release: ReleaseName }, closed)),
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type AgentConfig = Static<typeof AgentConfig>;
