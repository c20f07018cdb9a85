import { memberImageOf } from "../../src/kernel/job-images.ts";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { type OpenedDatabase, openDatabase, type ReadHandle } from "../../src/db/open-database.ts";
import type { AcceptedTask } from "../../src/kernel/accepted-task.ts";
import { buildKernel, type KernelParts } from "../../src/compose/build-kernel.ts";
import type { PlanRecorder } from "../../src/kernel/plan-recorder.ts";
import type { Workloads } from "../../src/kernel/workload.ts";
import type { DoorTrust } from "../../src/nodes/door-trust.ts";
import { WORKLOADS } from "../../src/workloads/workloads.ts";

const IMAGE = {
  profile: "fl-cpu",
  reference: `r:5000/resontech/fl-cpu@sha256:${"0".repeat(64)}`,
  sizeBytes: 1,
  packages: {},
  pythonVersion: "3.11.2",
};

let migrated: Buffer | null = null;

/** An empty database of this release. Its migrations take longer than most histories of a test. */
function migratedBytes(): Buffer {
  if (migrated !== null) return migrated;
  const dir = mkdtempSync(join(tmpdir(), "kernel-"));
  const file = join(dir, "empty.db");
  openDatabase(file)[Symbol.dispose]();
  migrated = readFileSync(file);
  rmSync(dir, { recursive: true });
  return migrated;
}

/** The kernel on a real database file with a clock of the test's own: what a process is between two crashes. */
export class KernelWorld implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), "kernel-"));
  #database!: OpenedDatabase;
  parts!: KernelParts;
  readonly errors: unknown[] = [];
  nowMs = Date.UTC(2026, 0, 1);
  readonly #workloads: Workloads;
  readonly #doorTrust: DoorTrust | undefined;
  /** What the appliance gives out to nodes; what is set here counts from the next {@link crash} on. */
  release: string | null = null;
  /** Records what the scheduler plans; what is set here counts from the next {@link crash} on. */
  planRecorder: PlanRecorder | undefined;

  constructor(workloads: Workloads = WORKLOADS, doorTrust?: DoorTrust) {
    this.#workloads = workloads;
    this.#doorTrust = doorTrust;
    writeFileSync(this.file, migratedBytes());
    this.#open();
    const { db, meta } = this.parts;
    meta.set("generation", 1);
    db.exec(`
      INSERT INTO users (id, username, is_admin, created_at) VALUES ('user-a', 'a', 0, 1);
      INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-a', 'user-a', 'p', 1, 1);
    `);
  }

  get file(): string {
    return join(this.#dir, "kernel.db");
  }

  get read(): ReadHandle {
    return this.#database.read;
  }

  #open(): void {
    this.#database = openDatabase(this.file);
    // The disk is not what these tests are about, and thousands of its syncs would be all of their time.
    this.#database.write.pragma("synchronous = OFF");
    this.parts = buildKernel({
      db: this.#database.write,
      commit: new GroupCommit(this.#database.write),
      workloads: this.#workloads,
      ...{ doorTrust: this.#doorTrust, release: this.release, planRecorder: this.planRecorder },
      clock: { now: () => this.nowMs, monotonic: () => this.nowMs },
      alarms: {
        onError: (error) => this.errors.push(error),
        onBrake: () => {},
        onNodeDead: () => {},
        onQuarantine: () => {},
        onClockStep: () => {},
        onAuditRejected: (error) => this.errors.push(error),
        onAuditHalted: (error) => this.errors.push(error),
      },
    });
  }

  /** Everything that is not in the file is lost. */
  crash(): void {
    this.#database[Symbol.dispose]();
    this.#open();
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  admit(node: string): void {
    this.parts.nodes.admit(node, node.padEnd(64, "0"), this.nowMs);
  }

  task(slug: string, change: Partial<AcceptedTask> = {}, shards = 2): AcceptedTask {
    const names = Array.from({ length: shards }, (_, n) => `shards/${n}.zip`);
    const input = (kind: "script" | "shard", key: string) => ({
      ...{ kind, key, versionId: "v1", etag: "e", sizeBytes: 10, target: key },
    });
    return {
      ...{ kind: "federation", spec: null },
      ...{
        userId: "user-a",
        projectId: "project-a",
        name: slug,
        slug,
        bucket: "bucket-a",
        outputRoot: `jobs/${slug}`,
      },
      inputs: [
        input("script", "scripts/model_def.py"),
        ...names.map((name) => input("shard", name)),
      ],
      selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
      ...{
        onlyMine: false,
        estimatedMemoryMb: null,
        timeLimitMs: null,
        numRounds: 3,
        firstRound: 0,
        minClients: 2,
        resumable: false,
        warnings: [],
      },
      image: IMAGE,
      images: [memberImageOf(IMAGE)],
      shardUncompressedBytes: names.map(() => 100),
      audit: { op: crypto.randomUUID(), index: 1, leafHash: "0".repeat(64), unwitnessed: false },
      idempotency: null,
      ...change,
    };
  }

  all<T>(sql: string, ...values: unknown[]): T[] {
    return this.parts.db.prepare<unknown[], T>(sql).all(...values);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the query decides the type, and only the caller knows it
  one<T>(sql: string, ...values: unknown[]): T {
    return this.parts.db
      .prepare<unknown[], T>(sql)
      .pluck()
      .get(...values) as T;
  }
}
