/** One node in a folder of its own: engines, scripted coordinator, and the real agent as a process that a test may kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import type { DesiredMember, MemberRole, StagedInput } from "@resontech/contracts/agent-protocol";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import type { Test } from "tap";
import { startBus, type TestBus } from "./bus.ts";
import { until } from "./engine-process.ts";
import { CoordinatorPeer, inputKey } from "./coordinator-peer.ts";
import { type JobImage, serveJobImage } from "./job-image.ts";
import { TestObjectStore } from "./object-store.ts";
import { TestPki } from "./pki.ts";
import { type PodmanService, startPodman } from "./podman-service.ts";

const MIB = 1024 * 1024;
const JOB_UID = 10001;

export class TestNode implements AsyncDisposable {
  readonly dir: string;
  readonly config: AgentConfig;
  readonly peer: CoordinatorPeer;
  readonly store: TestObjectStore;
  readonly engine: PodmanService;
  readonly bus: TestBus;
  readonly #configFile: string;
  readonly #image: JobImage;
  #agent: ChildProcess | null = null;
  #inputs = 0;

  private constructor(parts: {
    dir: string;
    config: AgentConfig;
    peer: CoordinatorPeer;
    store: TestObjectStore;
    engine: PodmanService;
    bus: TestBus;
    image: JobImage;
  }) {
    this.dir = parts.dir;
    this.config = parts.config;
    this.peer = parts.peer;
    this.store = parts.store;
    this.engine = parts.engine;
    this.bus = parts.bus;
    this.#image = parts.image;
    this.#configFile = join(parts.dir, "agent.json");
    writeFileSync(this.#configFile, JSON.stringify(parts.config), { mode: 0o400 });
  }

  static async start(): Promise<TestNode> {
    const dir = mkdtempSync(join(tmpdir(), "rta-"));
    const instance = `t${randomBytes(3).toString("hex")}`;
    const node = "node-a";
    const pki = await TestPki.make(join(dir, "pki"));
    const image = await serveJobImage(dir, pki);
    mkdirSync(join(dir, "podman"));
    const [bus, store, engine] = await Promise.all([
      startBus(dir, pki, node),
      TestObjectStore.start(dir, pki),
      startPodman(join(dir, "podman"), image.registry, pki.rootFile),
    ]);
    const token = "one-use-token";
    const peer = new CoordinatorPeer({ node, pki, store, token, natsUrl: bus.url });
    const joinTokenFile = join(dir, "join-token");
    writeFileSync(joinTokenFile, `${token}\n`, { mode: 0o600 });
    const config: AgentConfig = {
      node,
      apiUrl: await peer.start(),
      rootCertFile: pki.rootFile,
      address: "127.0.0.1",
      jobPorts: DEFAULT_JOB_PORTS,
      dataDir: join(dir, "agent"),
      joinTokenFile,
      containerEngine: { socket: engine.socket, kind: "podman" },
      initBinary: await ensureEngine("init"),
      runnersDir: join(import.meta.dirname, "payload"),
      cpuWorkers: 2,
      jobUid: JOB_UID,
      instance,
      logLevel: "debug",
    };
    return new TestNode({ dir, config, peer, store, engine, bus, image });
  }

  /** Starts the agent's process. */
  run(): void {
    const main = join(import.meta.dirname, "..", "..", "src", "main.ts");
    this.#agent = spawn(process.execPath, [main, "--config", this.#configFile], { stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(join(this.dir, "agent.log"), { flags: "a" });
    this.#agent.stdout?.pipe(log, { end: false });
    this.#agent.stderr?.pipe(log, { end: false });
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | null> {
    const agent = this.#agent;
    if (agent === null || agent.exitCode !== null || agent.signalCode !== null) return agent?.exitCode ?? null;
    const ended = once(agent, "exit");
    agent.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  /** One object for a member to stage. */
  async input(kind: StagedInput["kind"], target: string, body: string | Uint8Array): Promise<StagedInput> {
    this.#inputs += 1;
    const id = `i${this.#inputs}`;
    const etag = await this.store.put(inputKey(id), body);
    return { id, kind, target, sizeBytes: Buffer.byteLength(body), etag };
  }

  member(
    job: string,
    role: MemberRole,
    inputs: StagedInput[],
    change: Omit<Partial<DesiredMember>, "resources"> & { resources?: Partial<DesiredMember["resources"]> } = {},
  ): DesiredMember {
    const { resources, ...rest } = change;
    return {
      member: `${job}.${role.kind}${role.kind === "client" ? role.index : ""}`,
      job,
      attempt: `${job}.1`,
      role,
      fence: { generation: 1, counter: 1 },
      desired: "run",
      graceMs: 30_000,
      image: this.#image.reference,
      federation: {
        org: "resontech",
        serverName: "fl-server",
        serverPort: 8102,
        sites: ["site-1"],
        minClients: 1,
        numRounds: 1,
        taskRequestIntervalMs: 200,
      },
      inputs,
      ...rest,
      resources: {
        cpuMillis: 500,
        memoryBytes: 128 * MIB,
        pids: 64,
        diskBytes: 64 * MIB,
        workers: role.kind === "client" ? [`${this.config.node}-0`] : [],
        ...resources,
      },
    };
  }

  async runningContainers(): Promise<string[]> {
    return (await this.engine.podman("ps", "--format", "{{.Names}}")).split("\n").filter((name) => name !== "");
  }

  log(): string {
    return existsSync(join(this.dir, "agent.log")) ? readFileSync(join(this.dir, "agent.log"), "utf8") : "";
  }

  /** Whatever of this instance's jobs is still on the host; empty when everything was released. */
  async leftovers(): Promise<string[]> {
    const { instance, dataDir } = this.config;
    const containers = await this.engine.podman("ps", "--all", "--format", "container {{.Names}}");
    const networks = await this.engine.podman("network", "ls", "--format", "network {{.Name}}");
    const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
    const loops = readdirSync("/sys/block").flatMap((name) => {
      const file = `/sys/block/${name}/loop/backing_file`;
      return existsSync(file) ? [`loop ${readFileSync(file, "utf8").trim()}`] : [];
    });
    const members = join(dataDir, "members");
    return [
      ...containers.split("\n").filter((line) => line.includes(instance)),
      ...networks.split("\n").filter((line) => line.includes(instance)),
      ...mounts.filter((line) => line.includes(dataDir)),
      ...loops.filter((line) => line.includes(dataDir)),
      ...(await nftTables()).filter((line) => line.includes(instance)),
      ...(existsSync(members) ? readdirSync(members).map((name) => `member ${name}`) : []),
    ];
  }

  /** @throws with what is left when it does not become empty */
  async untilClean(): Promise<void> {
    let left: string[] = [];
    await until("nothing left over", async () => (left = await this.leftovers()).length === 0).catch((error: unknown) => {
      throw new Error(`left over: ${left.join(", ")}`, { cause: error });
    });
  }

  /** What a test that failed in the middle leaves on the host. */
  async #removeLeftovers(): Promise<void> {
    for (const line of readFileSync("/proc/self/mounts", "utf8").split("\n")) {
      const [, point = ""] = line.split(" ");
      if (point.startsWith(this.config.dataDir)) await run("umount", point);
    }
    await run("nft", "delete", "table", "inet", `resontech-${this.config.instance}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.peer.stop();
    await this.engine.stop();
    await Promise.all([this.bus.stop(), this.store.stop(), this.#image.stop()]);
    await this.#removeLeftovers();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

async function run(program: string, ...args: string[]): Promise<void> {
  await once(spawn(program, args, { stdio: "ignore" }), "close");
}

async function nftTables(): Promise<string[]> {
  const child = spawn("nft", ["list", "tables"], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  await once(child, "close");
  return output.split("\n").filter((line) => line !== "");
}

/** For tests of one node: starts a fresh agent process that has registered; it is killed when its test ends. */
export function agentStarter(node: TestNode): (t: Test) => Promise<void> {
  return async (t) => {
    const { registrations } = node.peer;
    const before = registrations.length;
    node.run();
    await until("registration", () => registrations.length > before);
    t.teardown(async () => {
      await node.kill();
      if (!t.passing()) t.comment(node.log().slice(-6000));
    });
  };
}
