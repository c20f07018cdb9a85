/** One node in a folder of its own: container engine, scripted coordinator, and the real agent as a process that a test may kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomBytes, X509Certificate } from "node:crypto";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import type { BridgePeer, DesiredMember, StagedInput } from "@resontech/contracts/agent-protocol";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import type { Test } from "tap";
import type { TestBus } from "./bus.ts";
import { untilFound } from "@resontech/house/until-found";
import { CoordinatorPeer, inputKey } from "./coordinator-peer.ts";
import { federationPayload, type TestFederation, type TestRole } from "./federation-payload.ts";
import type { JobImage } from "./job-image.ts";
import type { TestObjectStore } from "./object-store.ts";
import type { TestPki } from "@resontech/house/test-pki";
import { type NodePlace, type PodmanService, startPodman } from "@resontech/house/podman-service";
import { TestSite } from "./test-site.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

const MIB = 1024 * 1024;
/** Not the default: several test files may run beside an installed appliance. */
export const JOB_UIDS = { from: 1_800_000_000, to: 1_800_065_535 };

type Parts = {
  dir: string;
  config: AgentConfig;
  peer: CoordinatorPeer;
  engine: PodmanService;
  site: TestSite;
  ownsSite: boolean;
  namespace: NodePlace | null;
};

export class TestNode implements AsyncDisposable {
  readonly dir: string;
  readonly config: AgentConfig;
  readonly peer: CoordinatorPeer;
  readonly engine: PodmanService;
  readonly #configFile: string;
  readonly #parts: Parts;
  #agent: ChildProcess | null = null;
  #inputs = 0;

  private constructor(parts: Parts) {
    this.dir = parts.dir;
    this.config = parts.config;
    this.peer = parts.peer;
    this.engine = parts.engine;
    this.#parts = parts;
    this.#configFile = join(parts.dir, "agent.json");
    writeFileSync(this.#configFile, JSON.stringify(parts.config), { mode: 0o400 });
  }

  /**
   * A node with a site of its own, which other machines can't reach.
   * @param runnersDir in place of the payload of one file: the programs of an image that has an interpreter
   */
  static async start(runnersDir?: string): Promise<TestNode> {
    return await TestNode.#alone(await TestSite.start(["node-a"]), runnersDir);
  }

  /** The same, of an appliance whose doors show a certificate of the customer's. */
  static async withCustomersDoors(): Promise<TestNode> {
    return await TestNode.#alone(await TestSite.start(["node-a"], "127.0.0.1", true));
  }

  static async #alone(site: TestSite, runnersDir?: string): Promise<TestNode> {
    return await TestNode.#make({
      site,
      node: "node-a",
      namespace: null,
      address: "127.0.0.1",
      ownsSite: true,
      ...(runnersDir === undefined ? {} : { runnersDir }),
    });
  }

  /** One of a site's nodes, on this machine or in a namespace. */
  static async join(
    site: TestSite,
    node: string,
    address: string,
    namespace: NodePlace | null,
    cpuWorkers: number | null = 2,
    runnersDir?: string,
  ): Promise<TestNode> {
    return await TestNode.#make({
      ...{ site, node, namespace, address, cpuWorkers, ownsSite: false },
      ...(runnersDir === undefined ? {} : { runnersDir }),
    });
  }

  static async #make(
    options: Pick<Parts, "site" | "namespace" | "ownsSite"> & {
      node: string;
      address: string;
      runnersDir?: string;
      cpuWorkers?: number | null;
    },
  ): Promise<TestNode> {
    const { site, node, namespace, address, ownsSite } = options;
    const dir = mkdtempSync(join(tmpdir(), "rta-"));
    const instance = `t${randomBytes(3).toString("hex")}`;
    const { pki, store, bus, image, host } = site;
    mkdirSync(join(dir, "podman"));
    const engine = await startPodman(join(dir, "podman"), image.registry, pki.rootFile, namespace);
    const token = "one-use-token";
    const peer = new CoordinatorPeer({ node, pki, store, token, natsUrl: bus.url, host });
    const joinTokenFile = join(dir, "join-token");
    writeFileSync(joinTokenFile, `${token}\n`, { mode: 0o600 });
    const config: AgentConfig = {
      node,
      apiUrl: await peer.start(),
      rootCertFile: pki.rootFile,
      address,
      jobPorts: DEFAULT_JOB_PORTS,
      dataDir: join(dir, "agent"),
      joinTokenFile,
      containerEngine: { socket: engine.socket, kind: "podman" },
      initBinary: await ensureEngine("init"),
      runnersDir: options.runnersDir ?? join(import.meta.dirname, "payload"),
      cpuWorkers: options.cpuWorkers === undefined ? 2 : options.cpuWorkers,
      jobUids: JOB_UIDS,
      registryCertsDir: join(
        ...[dir, "podman", "home", ".config", "containers", "certs.d", image.registry],
      ),
      instance,
      logLevel: "debug",
    };
    return new TestNode({ dir, config, peer, engine, site, ownsSite, namespace });
  }

  /** Who vouches for object store and registry. */
  get doors(): TestPki {
    return this.#parts.site.doors;
  }

  get store(): TestObjectStore {
    return this.#parts.site.store;
  }

  get image(): JobImage {
    return this.#parts.site.image;
  }

  get bus(): TestBus {
    return this.#parts.site.bus;
  }

  /** What it shows to its peers, once it has joined. */
  get identity(): { certPem: string; keyPem: string } {
    const read = (name: string): string => readFileSync(join(this.config.dataDir, name), "utf8");
    return { certPem: read("node.crt"), keyPem: read("node.key") };
  }

  /** Signs certificates of nodes. */
  get pki(): TestPki {
    return this.#parts.site.pki;
  }

  /** What peers recognize it by, once it has joined. */
  get bridgePeer(): BridgePeer {
    const certificate = new X509Certificate(readFileSync(join(this.config.dataDir, "node.crt")));
    return {
      node: this.config.node,
      certificateSha256: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    };
  }

  /** Starts the agent's process. */
  run(): void {
    const main = shippedProgram("agent");
    this.#agent = spawn(...this.#placed(process.execPath, main, "--config", this.#configFile), {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const log = createWriteStream(join(this.dir, "agent.log"), { flags: "a" });
    this.#agent.stdout?.pipe(log, { end: false });
    this.#agent.stderr?.pipe(log, { end: false });
  }

  /** For signals that end nothing. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#agent?.kill(signal);
  }

  /** Its exit code, once the agent has ended by itself. */
  async ended(): Promise<number | null> {
    const agent = this.#agent;
    if (agent !== null && agent.exitCode === null && agent.signalCode === null)
      await once(agent, "exit");
    return agent?.exitCode ?? null;
  }

  /** A signal that ends the agent, and its exit code. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | null> {
    const agent = this.#agent;
    if (agent === null || agent.exitCode !== null || agent.signalCode !== null)
      return agent?.exitCode ?? null;
    const ended = once(agent, "exit");
    agent.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  /** One object for a member to stage. */
  async input(
    kind: StagedInput["kind"],
    target: string,
    body: string | Uint8Array,
  ): Promise<StagedInput> {
    this.#inputs += 1;
    const id = `${this.config.node}-i${this.#inputs}`;
    const etag = await this.store.put(inputKey(id), body);
    return { id, kind, target, sizeBytes: Buffer.byteLength(body), etag };
  }

  member(
    job: string,
    role: TestRole,
    inputs: StagedInput[],
    change: Omit<Partial<DesiredMember>, "resources" | "payload"> & {
      resources?: Partial<DesiredMember["resources"]>;
    } = {},
    federation: TestFederation = {},
  ): DesiredMember {
    const { resources, ...rest } = change;
    return {
      member: `${job}.${role.kind}${role.kind === "client" ? role.index : ""}`,
      job,
      attempt: `${job}.1`,
      fence: { generation: 1, counter: 1 },
      desired: "run",
      graceMs: 30_000,
      image: this.#parts.site.image.reference,
      payload: federationPayload(job, role, {
        ...federation,
        ...(change.bridge === undefined ? {} : { bridge: change.bridge }),
      }),
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
    return (await this.engine.podman("ps", "--format", "{{.Names}}"))
      .split("\n")
      .filter((name) => name !== "");
  }

  /** PID 1 of every container that runs, as the host numbers it. */
  async runningInits(): Promise<number[]> {
    const names = await this.runningContainers();
    const pids = await this.engine.podman("inspect", "--format", "{{.State.Pid}}", ...names);
    return pids.trim().split("\n").map(Number);
  }

  /** Lets no write of a member's record succeed, as a full or broken disk would, until its end. */
  async hinderRecord(member: string): Promise<{ end(): void }> {
    const inTheWay = join(this.config.dataDir, "members", member, "record.json.part");
    await untilFound("a moment without a write", () => {
      try {
        mkdirSync(inTheWay);
        return true;
      } catch {
        return false;
      }
    });
    return { end: () => rmdirSync(inTheWay) };
  }

  log(): string {
    return existsSync(join(this.dir, "agent.log"))
      ? readFileSync(join(this.dir, "agent.log"), "utf8")
      : "";
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
      ...(await this.nft("list", "tables")).split("\n").filter((line) => line.includes(instance)),
      ...(existsSync(members) ? readdirSync(members).map((name) => `member ${name}`) : []),
    ];
  }

  /** @throws with what is left when it does not become empty */
  async untilClean(): Promise<void> {
    let left: string[] = [];
    await untilFound(
      "nothing left over",
      async () => (left = await this.leftovers()).length === 0,
    ).catch((error: unknown) => {
      throw new Error(`left over: ${left.join(", ")}`, { cause: error });
    });
  }

  /** What a test that failed in the middle leaves on the host. */
  async #removeLeftovers(): Promise<void> {
    for (const line of readFileSync("/proc/self/mounts", "utf8").split("\n")) {
      const [, point = ""] = line.split(" ");
      if (point.startsWith(this.config.dataDir)) await run("umount", [point]);
    }
    await run(
      ...this.#placed("nft", "delete", "table", "inet", `resontech-${this.config.instance}`),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.peer.stop();
    await this.engine.stop();
    await this.#removeLeftovers();
    rmSync(this.dir, { recursive: true, force: true });
    rmSync(join("/run/resontech", this.config.instance), { recursive: true, force: true });
    if (this.#parts.ownsSite) await this.#parts.site[Symbol.asyncDispose]();
  }

  /** A program as it runs on this node. */
  #placed(program: string, ...args: string[]): [string, string[]] {
    return this.#parts.namespace?.enter(program, args) ?? [program, args];
  }

  /** What `nft` says on this node. */
  async nft(...args: string[]): Promise<string> {
    const child = spawn(...this.#placed("nft", ...args), { stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
    await once(child, "close");
    return output;
  }
}

async function run(program: string, args: string[]): Promise<void> {
  await once(spawn(program, args, { stdio: "ignore" }), "close");
}

/** For tests of one node: starts a fresh agent process that has registered; it is killed when its test ends. */
export function agentStarter(node: TestNode): (t: Test) => Promise<void> {
  return async (t) => {
    const { registrations } = node.peer;
    const before = registrations.length;
    node.run();
    await untilFound("registration", () => registrations.length > before);
    t.teardown(async () => {
      await node.kill();
      if (!t.passing()) t.comment(node.log().slice(-6000));
    });
  };
}
