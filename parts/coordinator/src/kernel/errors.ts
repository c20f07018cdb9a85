import { workerCount } from "./decisions/worker-count.ts";

/** The folder has a living job; its outputs would be overwritten. */
export class WorkspaceBusy extends Error {
  override readonly name = "WorkspaceBusy";
  readonly code = "workspace_busy";
  readonly jobId: string;
  readonly outputRoot: string;

  constructor(jobId: string, outputRoot: string) {
    super(`/${outputRoot} is used by job ${jobId}`);
    this.jobId = jobId;
    this.outputRoot = outputRoot;
  }
}

/** A job that is to start after another one names one that its project does not have. */
export class AwaitedJobMissing extends Error {
  override readonly name = "AwaitedJobMissing";
  readonly code = "not_found";

  constructor() {
    super("there is no such task");
  }
}

/** A job would wait for the success of one that has ended without it. */
export class DependencyFailed extends Error {
  override readonly name = "DependencyFailed";
  readonly code = "dependency_failed";
}

/** The `Idempotency-Key` was used in this project with another body. */
export class IdempotencyConflict extends Error {
  override readonly name = "IdempotencyConflict";
  readonly code = "idempotency_conflict";

  constructor() {
    super("this Idempotency-Key was used with another request");
  }
}

/** The `Idempotency-Key` stands for a job that was deleted. */
export class IdempotencyGone extends Error {
  override readonly name = "IdempotencyGone";
  readonly code = "idempotency_gone";

  constructor() {
    super("the job of this Idempotency-Key was deleted");
  }
}

/** A job names a pool that is not there, or not for its project. */
export class PoolUnknown extends Error {
  override readonly name = "PoolUnknown";
  readonly code = "pool_unknown";

  constructor(named: string) {
    super(`there is no pool ${named} that the project may name`);
  }
}

/** The job alone is more than its project, or what stands above it, may hold at any time. */
export class ShareLimitExceeded extends Error {
  override readonly name = "ShareLimitExceeded";
  readonly code = "share_limit_exceeded";

  constructor(passed: { name: string; model: string; limit: number; needs: number }) {
    const { name, model, limit, needs } = passed;
    super(`the job needs ${workerCount(needs)}; ${name} may hold at most ${limit} of ${model}`);
  }
}

/** The job alone is more than its project may hold in the pool that it names. */
export class PoolLimitExceeded extends Error {
  override readonly name = "PoolLimitExceeded";
  readonly code = "pool_limit_exceeded";

  constructor({ name, limit, needs }: { name: string; limit: number; needs: number }) {
    super(
      `the job needs ${workerCount(needs)}; in the pool ${name} a project has at most ${workerCount(limit)}`,
    );
  }
}

/** The job alone is more than one person may have in its project, or below what stands above it. */
export class PersonLimitExceeded extends Error {
  override readonly name = "PersonLimitExceeded";
  readonly code = "person_limit_exceeded";

  constructor(passed: { name: string; limit: number; needs: number }) {
    const { name, limit, needs } = passed;
    super(
      `the job needs ${workerCount(needs)}; in ${name} one person may have at most ${workerCount(limit)}`,
    );
  }
}

/** The job would make way for nobody, and nothing that its project is guaranteed covers it. */
export class GuaranteeTooSmall extends Error {
  override readonly name = "GuaranteeTooSmall";
  readonly code = "guarantee_too_small";

  constructor(needs: number) {
    super(
      `the job makes way for nobody and needs ${workerCount(needs)}; its project is guaranteed fewer of those that serve it`,
    );
  }
}

/** So many jobs of the person wait that no other may. */
export class PersonQueueFull extends Error {
  override readonly name = "PersonQueueFull";
  readonly code = "person_queue_full";

  constructor({ name, limit }: { name: string; limit: number }) {
    super(
      `${limit === 1 ? "a job" : `${limit} jobs`} of this person ${limit === 1 ? "waits" : "wait"} already in ${name}, and no more may`,
    );
  }
}

/** Audit records pile up; what runs may end, nothing new starts. */
export class Draining extends Error {
  override readonly name = "Draining";
  readonly code = "audit_unavailable";

  constructor() {
    super("audit records are not being taken; no new work is accepted");
  }
}

/** No record of this plan lies there: it decided nothing, was left out, or has made room. */
export class PlanNotRecorded extends Error {
  override readonly name = "PlanNotRecorded";
  readonly code = "plan_not_recorded";

  constructor(plan: number) {
    super(`there is no record of plan ${plan}`);
  }
}

/** A record holds other bytes than were written, or was cut. */
export class PlanRecordDamaged extends Error {
  override readonly name = "PlanRecordDamaged";
  readonly code = "plan_record_damaged";

  constructor(plan: number, options?: ErrorOptions) {
    super(
      `plan ${plan} can't be made again: its record, or one before it in its file, was cut or holds other bytes than were written`,
      options,
    );
  }
}
