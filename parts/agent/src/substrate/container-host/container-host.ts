/** The substrate of one machine: a container engine that speaks the Docker Engine API, and this host's own files, network and devices. */
import { dirname } from "node:path";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { DEFAULT_JOB_UIDS } from "@resontech/contracts/uid-range";
import Docker from "dockerode";
import type { Logger } from "pino";
import type { Accelerators } from "../../probes/accelerators.ts";
import type { Enclosure, Kept, Work } from "../enclosure.ts";
import type { FoundEnclosure, Substrate } from "../substrate.ts";
import { ContainerEnclosure, type HostParts } from "./container-enclosure.ts";
import { retryUntilEngineUp } from "./engine-retry.ts";
import { JobContainers } from "./containers/job-containers.ts";
import { seccompOption } from "./containers/seccomp-option.ts";
import { NodeDevices } from "./devices/node-devices.ts";
import { MemberFilesystem } from "./files/member-filesystem.ts";
import type { BridgeIdentity } from "./network/bridge-identity.ts";
import { BridgeNetwork } from "./network/bridge-network.ts";

/** An engine that is silent for so long hangs: what it was asked for is asked again, or done without it. */
const ENGINE_TIMEOUT_MS = 20_000;

export type ContainerHostOptions = {
  config: AgentConfig;
  /** What the bridges to other nodes show and believe. */
  identity: BridgeIdentity;
  accelerators: Accelerators;
  /** Holds the file that PID 1 of every container reads. */
  leaseDir: string;
  /** The folder of a member, made by whoever keeps its record; its area lies in it. */
  folderOf: (member: string) => string;
  log: Logger;
};

export class ContainerHost implements Substrate {
  readonly hiddenPaths: readonly string[];
  readonly #parts: HostParts;

  constructor({ config, identity, accelerators, leaseDir, folderOf, log }: ContainerHostOptions) {
    const { instance, address, containerEngine, dataDir, initBinary, runnersDir } = config;
    const socketPath = containerEngine.socket;
    const engine = new Docker({ socketPath, timeout: ENGINE_TIMEOUT_MS });
    this.#parts = {
      ...{ instance, initBinary, runnersDir, leaseDir, folderOf, log },
      engine: containerEngine.kind,
      jobUids: config.jobUids ?? DEFAULT_JOB_UIDS,
      seccomp: seccompOption(config),
      containers: new JobContainers(engine, instance, new Docker({ socketPath })),
      network: new BridgeNetwork({ engine, instance, address, log, identity }),
      devices: new NodeDevices(accelerators, containerEngine.kind),
    };
    // The engine names places of its own, beside the agent's.
    this.hiddenPaths = [
      dataDir,
      dirname(dataDir),
      runnersDir,
      dirname(initBinary),
      leaseDir,
      "/run/resontech",
    ];
  }

  enclosure(work: Work, kept: Kept): Enclosure {
    return new ContainerEnclosure(this.#parts, work, kept);
  }

  list(until: AbortSignal): Promise<FoundEnclosure[]> {
    return retryUntilEngineUp(() => this.#parts.containers.list(), until);
  }

  async discard({ name }: FoundEnclosure, until: AbortSignal): Promise<void> {
    await retryUntilEngineUp(() => this.#parts.containers.remove(name), until);
  }

  discardArea(member: string): Promise<boolean> {
    return new MemberFilesystem(this.#parts.folderOf(member)).remove();
  }

  discardNetwork(attempt: string): Promise<boolean> {
    return this.#parts.network.remove(attempt);
  }

  async keepNetworks(attempts: ReadonlySet<string>, until: AbortSignal): Promise<void> {
    const { network } = this.#parts;
    await retryUntilEngineUp(async () => {
      for (const attempt of await network.attempts())
        if (!attempts.has(attempt)) await network.remove(attempt);
      await network.seal();
    }, until);
  }

  closeNetworks(): Promise<boolean> {
    return this.#parts.network.keepClosed();
  }
}
