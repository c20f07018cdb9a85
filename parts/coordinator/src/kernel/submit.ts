import { isTerminal } from "@resontech/contracts/job-states";
import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import type { AcceptedArray, ArrayPlace } from "./accepted-array.ts";
import type { AcceptedTask } from "./accepted-task.ts";
import { type AwaitedJob, judgeOrder, mergeOrder } from "./decisions/job-order.ts";
import { waitsForArray } from "./decisions/waits-for-array.ts";
import {
  AwaitedJobMissing,
  DependencyFailed,
  IdempotencyConflict,
  IdempotencyGone,
  PoolLimitExceeded,
  PoolUnknown,
  WorkspaceBusy,
} from "./errors.ts";
import { storedKind } from "./decisions/stored-kind.ts";
import { newId } from "./ids.ts";
import type { PoolTable } from "./pool-table.ts";
import type { PersonQueues } from "./person-queues.ts";
import type { JobRow } from "./rows.ts";
import type { Prospects } from "./prospects.ts";
import { neverStarts } from "./warning-table.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";

type PlaceInArray = Pick<AcceptedArray, "id" | "atOnce"> & { place: ArrayPlace };

/** Makes jobs of accepted tasks. */
export class Submissions {
  readonly #prepared: Prepared;
  readonly #byKey;
  readonly #living;
  readonly #tables: KernelTables;
  readonly #transitions: Transitions;
  readonly #prospects: Pick<Prospects, "judge">;
  readonly #pools: Pick<PoolTable, "find">;
  readonly #personQueues: Pick<PersonQueues, "requireRoom">;

  constructor(
    db: WriteHandle,
    tables: KernelTables,
    transitions: Transitions,
    prospects: Pick<Prospects, "judge">,
    pools: Pick<PoolTable, "find">,
    personQueues: Pick<PersonQueues, "requireRoom">,
  ) {
    this.#pools = pools;
    this.#prepared = new Prepared(db);
    this.#tables = tables;
    this.#transitions = transitions;
    this.#prospects = prospects;
    this.#personQueues = personQueues;
    this.#byKey = db.prepare<[string, string], { body_sha256: string; job_id: string | null }>(
      "SELECT body_sha256, job_id FROM idempotency WHERE project_id = ? AND key = ?",
    );
    this.#living = db
      .prepare<[string, string], string>(
        "SELECT id FROM jobs WHERE bucket = ? AND output_root = ? AND ended_at IS NULL",
      )
      .pluck();
  }

  /**
   * Inside a transaction. Born ACCEPTED, it leaves that state before the transaction ends.
   * @returns the job's id, an earlier one when the idempotency key names it
   * @throws WorkspaceBusy, IdempotencyConflict, IdempotencyGone, AwaitedJobMissing, DependencyFailed, PoolUnknown, PoolLimitExceeded, ShareLimitExceeded, PersonLimitExceeded, PersonQueueFull
   */
  insert(task: AcceptedTask): string {
    return this.#insert(task, null);
  }

  /**
   * Inside a transaction: all jobs of the array, or none.
   * @returns their ids in order; those of an earlier array when the idempotency key of its first job names it
   * @throws as `insert` does
   */
  insertArray(array: AcceptedArray): string[] {
    const { arrays, clock } = this.#tables;
    const { id, atOnce, jobs } = array;
    const earlier = this.#earlierArray(array);
    if (earlier !== null) return earlier;
    arrays.add(array, clock.now());
    return jobs.map(({ place, task }) => this.#insert(task, { id, atOnce, place }));
  }

  /** Jobs of the array that the same key made; the operations of this one end with them. */
  #earlierArray({ jobs }: AcceptedArray): string[] | null {
    const { arrays, records } = this.#tables;
    const { idempotency, projectId } = jobs[0]!.task;
    if (idempotency === null) return null;
    const first = this.find(projectId, idempotency.key, idempotency.bodySha256);
    if (first === null) return null;
    const ids = arrays.jobsBeside(first);
    for (const [at, { task }] of jobs.entries())
      records.outcome(
        ...(["job.submit", task.audit, { kind: "job", id: ids[at] ?? first }] as const),
        { phase: "completed", code: "ok" },
      );
    return ids;
  }

  #insert(task: AcceptedTask, array: PlaceInArray | null): string {
    const { arrays, clock, meta, records, jobs, order, warnings } = this.#tables;
    const id = newId("job");
    const object = { kind: "job", id } as const;
    const known =
      task.idempotency === null
        ? null
        : this.find(task.projectId, task.idempotency.key, task.idempotency.bodySha256);
    if (known !== null) {
      records.outcome(
        "job.submit",
        task.audit,
        { kind: "job", id: known },
        { phase: "completed", code: "ok" },
      );
      return known;
    }
    const busy = this.livingJobOf(task.bucket, task.outputRoot);
    if (busy !== null) throw new WorkspaceBusy(busy, task.outputRoot);
    this.#personQueues.requireRoom(task);
    const awaited = this.#awaitedBy(task);
    const verdict = judgeOrder(awaited);
    if (verdict.kind === "broken") throw new DependencyFailed(verdict.message);

    const pool = this.#poolOf(task);
    const now = clock.now();
    this.#insertJob(id, meta.next("job-sequence"), { ...task, pool }, now);
    this.#insertInputs(id, task);
    order.add(id, awaited);
    const limit = array === null || arrays.hasRoom(array) ? null : array.atOnce;
    if (array !== null) arrays.addPoint(array.id, array.place, id);
    if (task.idempotency !== null)
      this.#prepared.run(
        "INSERT INTO idempotency (project_id, key, body_sha256, job_id, created_at) VALUES (?, ?, ?, ?, ?)",
        task.projectId,
        task.idempotency.key,
        task.idempotency.bodySha256,
        id,
        now,
      );
    jobs.journal({
      ...{
        jobId: id,
        memberId: null,
        attemptId: null,
        from: null,
        to: "ACCEPTED",
        event: "accept",
        reason: null,
      },
      ...{ generation: null, counter: null, at: now },
    });
    records.job({ id, audit_op: task.audit.op, user_id: task.userId }, null, "ACCEPTED");
    const held =
      verdict.kind === "waits" ? verdict.why : limit === null ? null : waitsForArray(limit);
    if (held !== null) {
      this.#transitions.moveJob(id, "hold");
      jobs.note(id, { waiting_for: held });
    } else this.#transitions.moveJob(id, "enqueue");
    this.#requirePoolRoom(jobs.get(id)!);
    const why = this.#prospects.judge(jobs.get(id)!);
    if (why !== null) warnings.note(id, neverStarts(why));
    records.outcome("job.submit", task.audit, object, { phase: "completed", code: "ok" });
    return id;
  }

  /** @throws IdempotencyConflict, IdempotencyGone */
  find(projectId: string, key: string, bodySha256: string): string | null {
    const row = this.#byKey.get(projectId, key);
    if (row === undefined) return null;
    if (row.body_sha256 !== bodySha256) throw new IdempotencyConflict();
    if (row.job_id === null) throw new IdempotencyGone();
    return row.job_id;
  }

  /** @throws PersonQueueFull */
  requireQueueRoom(owner: Pick<AcceptedTask, "userId" | "projectId">): void {
    this.#personQueues.requireRoom(owner);
  }

  livingJobOf(bucket: string, outputRoot: string): string | null {
    return this.#living.get(bucket, outputRoot) ?? null;
  }

  /** @returns its id; null where the task names none @throws PoolUnknown */
  #poolOf({ pool: named = null, projectId }: AcceptedTask): string | null {
    if (named === null) return null;
    const pool = this.#pools.find(named);
    // One that another project lends is told to nobody else.
    if (pool === null || (pool.project !== null && pool.project !== projectId))
      throw new PoolUnknown(named);
    return pool.id;
  }

  /** @throws PoolLimitExceeded */
  #requirePoolRoom(job: JobRow): void {
    const pool = job.pool === null ? null : this.#pools.find(job.pool);
    if (pool?.projectWorkers == null) return;
    const needs = this.#tables.workloads.of(job).gang(job).workers;
    const { name, projectWorkers: limit } = pool;
    if (needs > limit) throw new PoolLimitExceeded({ name, limit, needs });
  }

  /** @throws AwaitedJobMissing */
  #awaitedBy({ after = [], projectId }: AcceptedTask): AwaitedJob[] {
    return mergeOrder(after).map(({ job: id, when }) => {
      const job = this.#tables.jobs.get(id);
      if (job?.project_id !== projectId) throw new AwaitedJobMissing();
      return { job: id, name: job.name, when, endedAs: isTerminal(job.state) ? job.state : null };
    });
  }

  #insertJob(id: string, sequence: number, task: AcceptedTask, now: number): void {
    const spec = task.spec === null ? null : JSON.stringify(task.spec);
    const kind = storedKind(task.kind, this.#tables.workloads.of(task).workersEach({ spec }));
    this.#prepared.run(
      `INSERT INTO jobs (id, kind, spec, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, state_since,
           selection, only_mine, estimated_memory_mb, time_limit_ms, job_class, is_preemptible, model_bytes, image, images, num_rounds, first_round, min_clients, resumable, warnings, shard_count,
           shard_uncompressed_bytes, pool, audit_op, audit_index, audit_leaf, created_at)
         VALUES (@id, @kind, @spec, @sequence, @projectId, @userId, @name, @slug, @bucket, @outputRoot, 'ACCEPTED', 1, 'run', @now,
           @selection, @onlyMine, @estimatedMemoryMb, @timeLimitMs, @jobClass, @isPreemptible, @modelBytes, @image, @images, @numRounds, @firstRound, @minClients, @resumable, @warnings, @shards,
           @shardBytes, @pool, @op, @index, @leafHash, @now)`,
      {
        ...{ kind, spec },
        ...{
          id,
          sequence,
          now,
          projectId: task.projectId,
          userId: task.userId,
          name: task.name,
          slug: task.slug,
        },
        ...{
          bucket: task.bucket,
          outputRoot: task.outputRoot,
          estimatedMemoryMb: task.estimatedMemoryMb,
        },
        ...{ timeLimitMs: task.timeLimitMs, pool: task.pool ?? null },
        jobClass: task.jobClass ?? null,
        isPreemptible: task.isPreemptible == null ? null : Number(task.isPreemptible),
        modelBytes: task.inputs.reduce(
          (bytes, { kind, sizeBytes }) => bytes + (kind === "model" ? sizeBytes : 0),
          0,
        ),
        ...{
          numRounds: task.numRounds,
          firstRound: task.firstRound,
          minClients: task.minClients,
          resumable: Number(task.resumable),
        },
        ...{
          selection: JSON.stringify(task.selection),
          onlyMine: Number(task.onlyMine),
          image: JSON.stringify(task.image),
          images: JSON.stringify(task.images),
        },
        ...{ warnings: JSON.stringify(task.warnings), shards: task.shardUncompressedBytes.length },
        ...{ shardBytes: JSON.stringify(task.shardUncompressedBytes), ...task.audit },
      },
    );
  }

  #insertInputs(jobId: string, task: AcceptedTask): void {
    let shards = 0;
    for (const [at, input] of task.inputs.entries()) {
      const { kind, bucket = null, key, versionId, etag, sizeBytes, sha256 = null, target } = input;
      const shard = kind === "shard" ? shards++ : null;
      this.#prepared.run(
        `INSERT INTO job_inputs (job_id, id, kind, bucket, key, version_id, etag, size_bytes, sha256, target, shard_index)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[jobId, `i${at}`, kind, bucket === task.bucket ? null : bucket, key, versionId],
        ...[etag, sizeBytes, sha256, target, shard],
      );
    }
  }
}
