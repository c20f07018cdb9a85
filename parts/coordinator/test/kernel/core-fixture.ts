import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CoordinatorConfig, JobImage } from "@resontech/contracts/coordinator-config";
import { RegistryPasswords } from "../../src/identity/registry-passwords.ts";
import type { AcceptedInput, AcceptedTask } from "../../src/kernel/accepted-task.ts";
import { SteadyClock } from "../../src/kernel/clock.ts";
import type { JobView } from "../../src/kernel/job-view.ts";
import { type Core, openCore } from "../../src/compose/open-core.ts";
import { VolumeSync } from "../../src/storage/volume-sync.ts";
import { type AuditdFixture, startAuditd } from "../audit/auditd-fixture.ts";
import { type NatsFixture, startNats } from "../bus/nats-fixture.ts";
import { type S3Engine, startS3Engine } from "../helper/s3-engine.ts";
import { makeTestCa, type TestCa } from "../nodes/node-certificates.ts";
import { memberImageOf } from "../../src/kernel/job-images.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

export const IMAGE: JobImage = {
  profile: "fl-cpu",
  reference: `localhost:5000/resontech/fl-cpu@sha256:${"0".repeat(64)}`,
  sizeBytes: 1_000,
  packages: {},
  pythonVersion: "3.11.2",
};

/** As often as agents do. */
const BUCKET = "bucket-a";

/** The coordinator's core between the real parts: NATS, auditd and the S3 engine. */
export class CoreFixture {
  readonly dir: string;
  readonly ca: TestCa;
  readonly nats: NatsFixture;
  readonly auditd: AuditdFixture;
  readonly s3: S3Engine;
  readonly errors: string[] = [];
  readonly clockSteps: number[] = [];
  readonly volume: VolumeSync;
  /** How far the wall clock was set. */
  wallStepMs = 0;
  passwords = new RegistryPasswords(() => Date.now());
  core!: Core;
  readonly #agents: ScriptedAgent[] = [];

  private constructor(
    dir: string,
    ca: TestCa,
    nats: NatsFixture,
    auditd: AuditdFixture,
    s3: S3Engine,
  ) {
    this.dir = dir;
    this.ca = ca;
    this.nats = nats;
    this.auditd = auditd;
    this.s3 = s3;
    this.volume = new VolumeSync(s3.volumePath);
  }

  static async start(): Promise<CoreFixture> {
    const dir = mkdtempSync(join(tmpdir(), "core-"));
    for (const folder of ["ca", "nats", "audit", "s3"])
      mkdirSync(join(dir, folder), { mode: 0o700 });
    const ca = await makeTestCa(join(dir, "ca"));
    const [nats, auditd, s3] = await Promise.all([
      startNats(join(dir, "nats"), ca),
      startAuditd(join(dir, "audit"), ca.rootCertFile),
      startS3Engine(join(dir, "s3")),
    ]);
    const fixture = new CoreFixture(dir, ca, nats, auditd, s3);
    await fixture.open();
    await s3.store.ensureBucket(BUCKET);
    await fixture.core.commit.run((db) => {
      db.prepare(
        "INSERT INTO users (id, username, is_admin, created_at) VALUES ('user-a', 'a', 0, 1)",
      ).run();
      db.prepare(
        "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-a', 'user-a', 'p', 1, 1)",
      ).run();
    });
    return fixture;
  }

  /** Opens the core on the database that is there, as a start of the process does. */
  async open(): Promise<void> {
    this.core = await openCore({
      config: this.config,
      version: "0.1.0",
      store: this.s3.store,
      volume: this.volume,
      passwords: this.passwords,
      clock: new SteadyClock(() => Date.now() + this.wallStepMs),
      alarms: {
        onError: (error, what) => this.errors.push(`${what}: ${String(error)}`),
        onBrake: (brake) => this.errors.push(`brake: ${brake}`),
        onNodeDead: (node) => this.errors.push(`dead: ${node}`),
        onQuarantine: (member) => this.errors.push(`quarantined: ${member}`),
        onClockStep: (stepMs) => this.clockSteps.push(stepMs),
        onAuditRejected: (error) => this.errors.push(`audit refused: ${error.message}`),
        onAuditHalted: (error) => this.errors.push(`audit halted: ${String(error)}`),
      },
    });
  }

  async restart(): Promise<void> {
    await this.core[Symbol.asyncDispose]();
    await this.open();
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await agent.close();
    await this.core[Symbol.asyncDispose]();
    await this.nats[Symbol.asyncDispose]();
    await this.auditd[Symbol.asyncDispose]();
    await this.volume[Symbol.asyncDispose]();
    await this.s3.close();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** A node that joined by token, registered with so many CPU workers, and beats. */
  async agent(node: string, workers: number): Promise<ScriptedAgent> {
    const { token } = await this.core.joinTokens.make(node, 60);
    const agent = await ScriptedAgent.join(node, token, this.core.joinTokens, this.nats.url);
    this.#agents.push(agent);
    await agent.register(workers);
    agent.keepBeating();
    return agent;
  }

  /** Stores a task's objects, opens its operation at the gate, and submits it. */
  async submit(slug: string, change: Partial<AcceptedTask> = {}): Promise<JobView> {
    return await this.core.kernel.submit(await this.task(slug, change));
  }

  async task(slug: string, change: Partial<AcceptedTask> = {}): Promise<AcceptedTask> {
    const root = `jobs/${slug}`;
    const put = async (
      kind: AcceptedInput["kind"],
      path: string,
      target: string,
    ): Promise<AcceptedInput> => {
      const stored = await this.s3.store.put(
        BUCKET,
        `${root}/${path}`,
        `content of ${path}`,
        "text/plain",
      );
      return { kind, target, ...stored };
    };
    const inputs = [
      await put("script", "scripts/model_def.py", "scripts/model_def.py"),
      await put("config", "configs/meta.json", "configs/meta.json"),
      await put("shard", "shards/a.zip", "shard.zip"),
      await put("shard", "shards/b.zip", "shard.zip"),
    ];
    const op = randomUUID();
    const ack = await this.core.gate.requested({
      type: "job.submit",
      op,
      actor: { sub: "key-a", kind: "key" },
      object: { kind: "job", id: op },
    });
    return {
      ...{ kind: "federation", spec: null },
      ...{
        userId: "user-a",
        projectId: "project-a",
        name: slug,
        slug,
        bucket: BUCKET,
        outputRoot: root,
        inputs,
      },
      selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
      ...{
        onlyMine: false,
        estimatedMemoryMb: null,
        timeLimitMs: null,
        image: IMAGE,
        images: [memberImageOf(IMAGE)],
        numRounds: 3,
        firstRound: 0,
        minClients: 2,
        resumable: false,
      },
      ...{
        warnings: [],
        shardUncompressedBytes: [100, 200],
        audit: { op, ...ack },
        idempotency: null,
      },
      ...change,
    };
  }

  async cancel(jobId: string): Promise<void> {
    const op = randomUUID();
    const ack = await this.core.gate.requested({
      type: "job.cancel",
      op,
      actor: { sub: "key-a", kind: "key" },
      object: { kind: "job", id: jobId },
    });
    await this.core.kernel.requestStop(jobId, "user_cancelled", { op, ...ack });
  }

  job(id: string): JobView {
    return this.core.kernel.job(id)!;
  }

  /** @param limitMs fails the test rather than waiting for ever */
  async until(id: string, ...states: JobView["state"][]): Promise<JobView> {
    return await eventually(
      () => {
        const job = this.job(id);
        return states.includes(job.state) ? job : null;
      },
      `${id} in ${states.join(" or ")}`,
    );
  }

  get config(): CoordinatorConfig {
    const unused = join(this.dir, "unused");
    writeFileSync(unused, "", { mode: 0o600 });
    return {
      listen: { socket: "/nowhere" },
      publicUrl: "http://localhost",
      databaseFile: join(this.dir, "coordinator.db"),
      controlSocket: unused,
      frontSocket: unused,
      audit: {
        gateSocket: this.auditd.gateSocket,
        recordSocket: this.auditd.recordSocket,
        searchSocket: "/nowhere",
      },
      nats: this.nats.config,
      s3: {
        endpoint: this.s3.endpoint,
        region: this.s3.region,
        caFile: this.s3.caFile,
        adminKeyFile: unused,
        volumePath: this.s3.volumePath,
        bucketQuotaBytes: 0,
      },
      registry: {
        host: "localhost:5000",
        service: "registry",
        tokenKeyFile: unused,
        tokenCertFile: unused,
      },
      ca: this.ca,
      images: [IMAGE],
      keyKind: "dev",
      natsPublicUrl: this.nats.url,
      logLevel: "info",
    };
  }
}

/** Asks until there is an answer. */
export async function eventually<T>(
  ask: () => T | null | Promise<T | null>,
  what: string,
  limitMs = 60_000,
): Promise<T> {
  for (const end = Date.now() + limitMs; Date.now() < end; ) {
    const answer = await ask();
    if (answer !== null) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${what}: not within ${limitMs} ms`);
}
