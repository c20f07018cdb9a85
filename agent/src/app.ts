/** Composition of one node's agent: identity, bus, lease, desired set, members, reports. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { formatFence } from "@resontech/contracts/fence";
import type { Logger } from "pino";
import { CoordinatorClient } from "./bus/coordinator-client.ts";
import { JobContainers } from "./containers/job-container.ts";
import { type LocalMember, reconcile, type Step } from "./decisions/reconcile.ts";
import { ensureIdentity } from "./join/node-identity.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { Member, type MemberTools } from "./members/member.ts";
import { MemberStore } from "./members/member-record.ts";
import { BridgeJobNetwork } from "./network/job-network.ts";
import { Uploader } from "./outputs/uploader.ts";
import { readInventory } from "./probes/inventory.ts";
import { ReportPump } from "./report-pump.ts";

/** The whole desired set is compared at least this often, hints or not. */
const COMPARE_MS = 30_000;

export class Agent {
  readonly #tools: MemberTools;
  readonly #members = new Map<string, Member>();
  readonly #lease: LeaseKeeper;
  readonly #pump: ReportPump;
  readonly #log: Logger;
  #desiredVersion = -2;
  #compare: (() => void) | null = null;

  private constructor(tools: Omit<MemberTools, "onReport">, lease: (agent: Agent) => LeaseKeeper) {
    this.#log = tools.log;
    this.#tools = { ...tools, onReport: () => this.#pump.wake() };
    this.#lease = lease(this);
    this.#pump = new ReportPump({
      coordinator: tools.coordinator,
      members: () => this.#members.values(),
      onStale: (member) => void this.#abandon(member),
      log: tools.log,
    });
  }

  static async start(config: AgentConfig, log: Logger): Promise<Agent> {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
    const identity = await ensureIdentity(config);
    const rootCert = readFileSync(config.rootCertFile, "utf8");
    const coordinator = await CoordinatorClient.connect(config.node, {
      servers: identity.natsUrl,
      tls: { ca: rootCert, cert: identity.certPem, key: identity.keyPem },
    });
    const containers = new JobContainers(config.containerEngine.socket, config.instance, config.jobUid);
    const inventory = await readInventory({
      node: config.node,
      cpuWorkers: config.cpuWorkers,
      dataDir: config.dataDir,
      engine: config.containerEngine.kind,
    });
    const leaseDir = join(config.dataDir, "lease");
    const tools = {
      config,
      store: new MemberStore(config.dataDir),
      coordinator,
      containers,
      network: new BridgeJobNetwork(containers.engine, config.instance),
      uploader: new Uploader(coordinator, rootCert),
      rootCert,
      leaseDir,
      log,
    };
    const agent = new Agent(
      tools,
      (self) =>
        new LeaseKeeper({
          coordinator,
          dataDir: config.dataDir,
          leaseDir,
          inventory,
          log,
          handlers: {
            held: () => self.#held(),
            onDesiredVersion: (version) => self.#onVersion(version),
            onLost: () => self.#stopAll(),
          },
        }),
    );
    await agent.#resume();
    return agent;
  }

  /** Works until the signal; members' containers are left running: the next agent process takes them up again. */
  async run(signal: AbortSignal): Promise<void> {
    const hints = this.#tools.coordinator.onHint(() => this.#compare?.());
    try {
      await Promise.all([this.#lease.run(signal), this.#pump.run(signal), this.#compareForEver(signal)]);
    } finally {
      hints.unsubscribe();
      await this.#tools.coordinator.close();
    }
  }

  /** Takes up the members of a former agent process and removes containers that no record knows. */
  async #resume(): Promise<void> {
    for (const state of this.#tools.store.load()) {
      const member = new Member(this.#tools, state);
      this.#members.set(state.desired.member, member);
      member.start();
    }
    for (const { name, member, fence } of await this.#tools.containers.list()) {
      const known = this.#members.get(member);
      if (known !== undefined && formatFence(known.state.desired.fence) === fence) continue;
      this.#log.warn({ container: name }, "removing a container that no record knows");
      await this.#tools.containers.remove(name);
    }
  }

  #held(): { member: string; fence: { generation: number; counter: number } }[] {
    return [...this.#members.values()]
      .filter(({ state }) => state.phase !== "released")
      .map(({ state }) => ({ member: state.desired.member, fence: state.desired.fence }));
  }

  #onVersion(version: number): void {
    if (version !== this.#desiredVersion) this.#compare?.();
  }

  #stopAll(): void {
    for (const member of this.#members.values()) void this.#abandon(member);
  }

  async #abandon(member: Member): Promise<void> {
    await member.abandon().catch((error: unknown) => this.#log.error({ err: error }, "a member could not be ended"));
  }

  async #compareForEver(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#compare = resolve;
      try {
        await this.#compareOnce();
      } catch (error) {
        this.#log.warn({ err: error }, "the desired set was not had");
        // Not before the next beat has shown that the coordinator is back.
        await sleep(1_000, undefined, { signal }).catch(() => undefined);
      }
      await Promise.race([promise, sleep(COMPARE_MS, undefined, { signal }).catch(() => undefined)]);
    }
  }

  async #compareOnce(): Promise<void> {
    const { version, members } = await this.#tools.coordinator.desired();
    const local: LocalMember[] = [...this.#members.values()].map(({ state }) => ({
      member: state.desired.member,
      fence: state.desired.fence,
      state: state.phase === "released" ? "released" : state.stop === null ? "run" : "stop",
      pendingReports: state.pending.length,
    }));
    const steps = reconcile(members, local, this.#lease.verdict === "work");
    for (const step of steps) this.#carryOut(step);
    this.#desiredVersion = version;
  }

  #carryOut(step: Step): void {
    switch (step.do) {
      case "start": {
        const member = Member.fresh(this.#tools, step.desired);
        this.#members.set(step.desired.member, member);
        this.#log.info({ member: step.desired.member, job: step.desired.job }, "starting");
        member.start();
        break;
      }
      case "clear": {
        const found = this.#members.get(step.desired.member);
        void (async () => {
          if (found !== undefined) await this.#abandon(found);
          const cleared = Member.fresh(this.#tools, step.desired);
          this.#members.set(step.desired.member, cleared);
          await cleared.clear();
        })().catch((error: unknown) =>
          this.#log.error({ err: error, member: step.desired.member }, "a member could not be cleared"),
        );
        break;
      }
      case "stop":
        this.#members.get(step.member)?.stop(step.reason, step.graceMs);
        break;
      case "supersede":
      case "kill": {
        const found = this.#members.get(step.member);
        if (found !== undefined) {
          void this.#abandon(found).then(() => {
            this.#forget(step.member);
            this.#compare?.();
          });
        }
        break;
      }
      case "forget":
        this.#forget(step.member);
        break;
    }
  }

  #forget(member: string): void {
    this.#members.delete(member);
    this.#tools.store.forget(member);
  }
}
