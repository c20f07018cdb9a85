/**
 * A second node of an installed appliance, on the same machine: a network namespace of its own, in it a container engine of its own and an
 * agent of the release, which joins with a one-use token as an operator would have it join.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import { type PodmanService, startPodman } from "../engines/podman-service.ts";
import type { LocalAppliance } from "./local-appliance.ts";
import type { NetworkNamespace } from "../network/network-namespace.ts";

const JOIN_LIMIT_MS = 120_000;

export type SecondNodeOptions = {
  appliance: LocalAppliance;
  namespace: NetworkNamespace;
  node: string;
  cpuWorkers: number;
  /** A folder that is there; it is the caller's to remove. */
  folder: string;
};

export class SecondNode implements AsyncDisposable {
  readonly engine: PodmanService;
  readonly config: AgentConfig;
  readonly #options: SecondNodeOptions;
  readonly #configFile: string;
  #agent: ChildProcess | null = null;

  private constructor(options: SecondNodeOptions, config: AgentConfig, engine: PodmanService) {
    this.#options = options;
    this.config = config;
    this.engine = engine;
    this.#configFile = join(options.folder, "agent.json");
    writeFileSync(this.#configFile, JSON.stringify(config), { mode: 0o400 });
  }

  /** Answers once the node has joined. */
  static async start(options: SecondNodeOptions): Promise<SecondNode> {
    const { appliance, namespace, node, cpuWorkers, folder } = options;
    const {
      name,
      ports,
      jobPorts = DEFAULT_JOB_PORTS,
      instance,
    } = JSON.parse(
      readFileSync(join(appliance.root, "etc", "appliance.json"), "utf8"),
    ) as ApplianceConfig;
    const rootCertFile = join(appliance.root, "etc", "ca", "root.crt");
    const joinTokenFile = join(folder, "join-token");
    const { token } = JSON.parse(await appliance.command(["join-token", node])) as {
      token: string;
    };
    writeFileSync(joinTokenFile, `${token}\n`, { mode: 0o600 });
    mkdirSync(join(folder, "podman"));
    const engine = await startPodman(
      join(folder, "podman"),
      `${name}:${ports.registry}`,
      rootCertFile,
      namespace,
    );
    const release = (...path: string[]): string => join(appliance.root, "current", ...path);
    const config: AgentConfig = {
      node,
      apiUrl: `https://${name}:${ports.api}`,
      rootCertFile,
      address: namespace.address,
      jobPorts,
      dataDir: join(folder, "agent"),
      joinTokenFile,
      containerEngine: { kind: "podman", socket: engine.socket },
      initBinary: release("engines", "rt-init"),
      runnersDir: release("app", "runners"),
      cpuWorkers,
      instance: `${instance}-2`,
      logLevel: "info",
    };
    const second = new SecondNode(options, config, engine);
    second.run();
    for (const from = Date.now(); !existsSync(join(config.dataDir, "node.crt")); await sleep(100))
      if (Date.now() - from > JOIN_LIMIT_MS) {
        await second[Symbol.asyncDispose]();
        throw new Error(`${node} has not joined: ${second.log().slice(-2000)}`);
      }
    return second;
  }

  /** Starts the agent's process. */
  run(): void {
    const { appliance, namespace, folder } = this.#options;
    const release = join(appliance.root, "current");
    const program = namespace.enter(join(release, "bin", "node"), [
      join(release, "app", "agent.mjs"),
      "--config",
      this.#configFile,
    ]);
    this.#agent = spawn(...program, { stdio: ["ignore", "pipe", "pipe"], cwd: folder });
    const log = createWriteStream(join(folder, "agent.log"), { flags: "a" });
    this.#agent.stdout?.pipe(log, { end: false });
    this.#agent.stderr?.pipe(log, { end: false });
  }

  /** Nothing of the agent gets a chance to end cleanly; its containers go on. */
  async kill(): Promise<void> {
    const agent = this.#agent;
    if (agent === null || agent.exitCode !== null || agent.signalCode !== null) return;
    const ended = once(agent, "exit");
    agent.kill("SIGKILL");
    await ended;
  }

  /** Joins again with a new token, as an operator who has looked at it would have it join. */
  async rejoin(): Promise<void> {
    const { appliance, node } = this.#options;
    await this.kill();
    const { token } = JSON.parse(await appliance.command(["join-token", node])) as {
      token: string;
    };
    rmSync(join(this.config.dataDir, "node.crt"), { force: true });
    writeFileSync(this.config.joinTokenFile ?? "", `${token}\n`, { mode: 0o600 });
    this.run();
  }

  log(): string {
    return readFileSync(join(this.#options.folder, "agent.log"), "utf8");
  }

  /** What jobs must not leave on it: one line each. */
  async leftovers(): Promise<string[]> {
    const { namespace } = this.#options;
    const lines = (what: string, text: string): string[] =>
      text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => `${what} ${line}`);
    const members = join(this.config.dataDir, "members");
    return [
      ...lines("container", await this.engine.podman("ps", "--all", "--format", "{{.Names}}")),
      ...lines(
        "network",
        await this.engine.podman(
          "network",
          "ls",
          "--filter",
          "label=tech.reson.attempt",
          "--format",
          "{{.Name}}",
        ),
      ),
      ...lines("mount", readFileSync("/proc/self/mounts", "utf8")).filter((line) =>
        line.includes(`${members}/`),
      ),
      ...lines("firewall", namespace.run("nft", "list", "tables")).filter((line) =>
        line.includes("resontech-"),
      ),
      ...lines("listener", namespace.run("ss", "-Hltn")).filter((line) =>
        line.includes(namespace.address),
      ),
    ];
  }

  /** It lets go of what it had once it has come back. @returns what is left after that */
  async untilNothingIsLeft(timeoutMs = 180_000): Promise<string[]> {
    for (
      const from = Date.now();
      Date.now() - from < timeoutMs && (await this.leftovers()).length > 0;
    )
      await sleep(500);
    return await this.leftovers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.engine.stop();
    // What a job that still ran has mounted; the deepest first.
    const mounts = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "")
      .filter((path) => path.startsWith(`${this.config.dataDir}/`));
    for (const path of mounts.toSorted().toReversed()) execFileSync("umount", [path]);
    rmSync(this.config.dataDir, { recursive: true, force: true });
    rmSync(join("/run/resontech", this.config.instance), { recursive: true, force: true });
  }
}
