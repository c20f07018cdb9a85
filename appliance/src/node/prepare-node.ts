/** Makes what the parts of a node need to start; each start does it again, so a changed configuration or release is followed. */
import { existsSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { ReleaseName } from "@resontech/contracts/release-name";
import { Value } from "typebox/value";
import { ensureFolder, ROOT, writeOwned } from "../config/owned-file.ts";
import { dockerCertsDir, podmanCertsDir } from "@resontech/frame/registry-certs";
import { toolsHome } from "../host-tools/tools-environment.ts";
import type { NodeContext } from "./node-context.ts";

export function prepareNode(context: NodeContext): void {
  const { layout } = context;
  for (const folder of [layout.etc, layout.data(), layout.run(".."), layout.run()])
    ensureFolder(folder, ROOT, 0o755);
  ensureFolder(layout.log(""), ROOT, 0o750);
  for (const folder of ["agent", "podman"] as const) ensureFolder(layout.data(folder), ROOT, 0o700);
  writeOwned(
    layout.processConfig("agent"),
    `${JSON.stringify(agentConfig(context), null, 2)}\n`,
    ROOT,
    0o400,
  );
}

function agentConfig({ config, layout }: NodeContext): AgentConfig {
  const joinToken = layout.data("agent", "join-token");
  const { name, ports } = config.appliance;
  const registry = `${name}:${ports.registry}`;
  // Its folder is named so, unless its version is too long for a name: such a node is upgraded by hand.
  const release = basename(realpathSync(layout.current));
  const tools = config.hostTools === "bundle" ? toolsHome(layout.current) : null;
  return {
    node: config.node,
    apiUrl: `https://${name}:${ports.api}`,
    rootCertFile: layout.rootCert,
    address: config.address,
    jobPorts: config.jobPorts,
    dataDir: layout.data("agent"),
    joinTokenFile: existsSync(joinToken) ? joinToken : null,
    containerEngine:
      config.containerEngine.kind === "podman"
        ? { kind: "podman", socket: layout.podmanSocket }
        : config.containerEngine,
    registryCertsDir:
      config.containerEngine.kind === "podman"
        ? podmanCertsDir(layout, registry)
        : dockerCertsDir(registry),
    initBinary: layout.release("engines", "rt-init"),
    runnersDir: layout.release("app", "runners"),
    cpuWorkers: config.cpuWorkers,
    tryProcessors: true,
    ...(tools === null ? {} : { toolsDir: join(tools, "bin") }),
    jobUids: config.jobUids,
    instance: config.instance,
    livenessSocket: layout.run("agent", "sock"),
    ...(Value.Check(ReleaseName, release) ? { upgrade: { root: layout.root, release } } : {}),
    logLevel: "info",
  };
}
