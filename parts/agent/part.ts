/** The agent: runs members of jobs in containers of a host. It needs the host itself, so it is root's. */
import { AgentConfig } from "@resontech/contracts/agent-config";
import { ReleaseName } from "@resontech/contracts/release-name";
import { defineHostPart, type HostFacts } from "@resontech/frame/define-part";
import { dockerCertsDir, podmanCertsDir } from "@resontech/frame/registry-certs";
import { Value } from "typebox/value";

const NAME = "agent";

function configOf({ layout, host, has, realPath }: HostFacts): AgentConfig {
  const { appliance, containerEngine, toolsHome } = host;
  const joinToken = layout.data(NAME, "join-token");
  const registry = `${appliance.name}:${appliance.ports.registry}`;
  const isPodman = containerEngine.kind === "podman";
  return {
    node: host.node ?? "",
    apiUrl: `https://${appliance.name}:${appliance.ports.api}`,
    rootCertFile: host.trustFile,
    address: host.address,
    jobPorts: host.jobPorts,
    dataDir: layout.data(NAME),
    joinTokenFile: has(joinToken) ? joinToken : null,
    containerEngine: isPodman
      ? { kind: "podman", socket: layout.podmanSocket }
      : { kind: "docker", socket: containerEngine.socket },
    registryCertsDir: isPodman ? podmanCertsDir(layout, registry) : dockerCertsDir(registry),
    initBinary: layout.release("engines", "rt-init"),
    runnersDir: layout.release("app", "runners"),
    cpuWorkers: host.cpuWorkers,
    ...(host.kind === "node" ? { tryProcessors: true } : {}),
    ...(toolsHome === null ? {} : { toolsDir: `${toolsHome}/bin` }),
    ...(host.jobUids === undefined ? {} : { jobUids: host.jobUids }),
    instance: host.instance,
    livenessSocket: layout.run(NAME, "sock"),
    ...(host.kind === "node" ? upgradeOf(layout.root, realPath(layout.current)) : {}),
    logLevel: "info",
  };
}

/** The appliance's own host is upgraded by its installer. */
function upgradeOf(root: string, releaseDir: string): Pick<AgentConfig, "upgrade"> {
  // Its folder is named so, unless its version is too long for a name: such a node is upgraded by hand.
  const release = releaseDir.slice(releaseDir.lastIndexOf("/") + 1);
  return Value.Check(ReleaseName, release) ? { upgrade: { root, release } } : {};
}

export const agent = defineHostPart({
  ...{ name: NAME, user: "root", hosts: ["appliance", "node"] },
  isOn: ({ node }) => node !== null,
  // Those that are on its own host.
  after: ["podman", "coordinator", "door", "registry"],
  command: ({ layout }) => ({
    program: layout.release("bin", "node"),
    args: [layout.release("app", "agent.mjs"), "--config", layout.processConfig(NAME)],
  }),
  // Its threads, and what it puts into each job's container.
  loads: ["app/agent-transfers.mjs", "app/runners/", "engines/rt-init"],
  runsHostTools: true,
  hostConfig: { schema: AgentConfig, from: configOf },
  sockets: { liveness: { for: "root", speaks: "nothing", at: [NAME, "sock"] } },
  certificates: [],
  // It has joined once it holds its certificate; whether its beats are answered, `status` asks the coordinator.
  health: { endsConnections: ["liveness"], file: (layout) => layout.data(NAME, "node.crt") },
  settings: [],
  // Its identity is the host's.
  data: { isBackedUp: false, hides: /(?:\.key|join-token)$/ },
  firstBytes: 32 * 1024 ** 2,
  stop: { graceMs: 45_000 },
  inShortage: "last",
});
