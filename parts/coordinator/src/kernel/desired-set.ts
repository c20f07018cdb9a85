import {
  COMMIT_SINCE,
  INPUT_CACHE_SINCE,
  type DesiredMember,
  type DesiredReply,
  PRINTED_METRICS_SINCE,
  type StagedInput,
  STANDING_SINCE,
} from "@resontech/contracts/agent-protocol";
import type { WriteHandle } from "../db/open-database.ts";
import { DEADLINES } from "./decisions/deadlines.ts";
import { isMemberWorking } from "./decisions/member-machine.ts";
import type { MemberResources } from "./decisions/resources.ts";
import { InputCaches, objectVersionName } from "./input-caches.ts";
import { memberImageReference } from "./job-images.ts";
import type { AttemptRow, JobRow, MemberRow } from "./rows.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";
import type { Workload } from "./workload.ts";

/** The bus carries messages of 8 MiB; what a member says of itself may still grow by a bridge. */
const MAX_SET_BYTES = 6 * 1024 ** 2;

type InputRow = {
  id: string;
  kind: StagedInput["kind"];
  target: string;
  size_bytes: number;
  etag: string;
  /** Null where only who uploaded it knows. */
  sha256: string | null;
};

/** What must run on a node. Whoever fetches it has been told: members that were only leased are claimed in the same transaction. */
export class DesiredSets {
  readonly #db: WriteHandle;
  readonly #tables: KernelTables;
  readonly #transitions: Transitions;
  readonly #caches: InputCaches;

  constructor(db: WriteHandle, tables: KernelTables, transitions: Transitions) {
    this.#caches = new InputCaches(db);
    this.#db = db;
    this.#tables = tables;
    this.#transitions = transitions;
  }

  /** Inside a transaction. A member that the answer has no room for stays LEASED: its deadline passes, and another node is tried. */
  claimAndTell(nodeId: string): DesiredReply {
    for (const member of this.#withRoom(this.#membersOn(nodeId))) {
      this.#tables.members.note(member.id, { told: JSON.stringify(this.#describe(member)) });
      this.#transitions.moveMember(member.id, "claim");
      this.#transitions.reconcile(member.job_id);
    }
    const version = this.#db
      .prepare<[string], number>("SELECT desired_version FROM nodes WHERE id = ?")
      .pluck()
      .get(nodeId);
    const told = this.#membersOn(nodeId).filter(({ state }) => state !== "LEASED");
    const cache = this.#cacheOf(nodeId);
    return {
      ...{ version: version ?? 0, members: told.flatMap((member) => this.#describeAny(member)) },
      ...(cache === null ? {} : { cache: cache.rule }),
    };
  }

  #cacheOf(nodeId: string): ReturnType<InputCaches["ofNode"]> {
    const isKnown = this.#tables.members.nodeSpeaks(nodeId, INPUT_CACHE_SINCE);
    return isKnown ? this.#caches.ofNode(nodeId) : null;
  }

  /** Of the members that the node has not heard of, those that fit beside what it has. */
  #withRoom(members: readonly MemberRow[]): MemberRow[] {
    const { jobs, workloads } = this.#tables;
    // A place that a newer release gave out, and nobody heard of, comes free by its deadline.
    const leased = members.filter(
      ({ state, job_id }) => state === "LEASED" && workloads.has(jobs.get(job_id)!.kind),
    );
    if (leased.length === 0) return [];
    const bytesOf = (member: MemberRow): number =>
      Buffer.byteLength(JSON.stringify(this.#describeAny(member)));
    let bytes = members
      .filter(({ state }) => state !== "LEASED")
      .reduce((sum, member) => sum + bytesOf(member), 0);
    return leased.filter((member) => {
      const own = bytesOf(member);
      if (bytes + own > MAX_SET_BYTES) return false;
      bytes += own;
      return true;
    });
  }

  #membersOn(nodeId: string): MemberRow[] {
    return this.#db
      .prepare<[string], MemberRow>(
        "SELECT * FROM members WHERE node_id = ? AND state NOT IN ('RELEASED', 'QUARANTINED') ORDER BY id",
      )
      .all(nodeId);
  }

  /** A member of a kind that a newer release knows is told as that release told it; nothing where it kept none. */
  #describeAny(member: MemberRow): DesiredMember[] {
    const { jobs, workloads } = this.#tables;
    if (workloads.has(jobs.get(member.job_id)!.kind)) return [this.#describe(member)];
    if (member.told === null) return [];
    const { stopReason: _, ...told } = JSON.parse(member.told) as DesiredMember;
    return [{ ...told, ...standingOf(member) }];
  }

  /**
   * A lead that goes on in a job that makes way is to commit until the job's deadline; an agent that does not know of that stops it now.
   * Derived of the rows alone: whoever is killed meanwhile tells the same.
   */
  #orderOf(
    { state, deadline_at: deadline }: JobRow,
    { is_lead, desired, node_id: node, state: at }: MemberRow,
  ): Partial<Pick<DesiredMember, "desired" | "stopReason" | "stopAfter" | "graceMs">> {
    if (state !== "PREEMPTING" || is_lead === 0 || desired === "stop" || !isMemberWorking(at))
      return {};
    const { clock, members } = this.#tables;
    const stop = { desired: "stop", stopReason: "preempted" } as const;
    if (!members.nodeSpeaks(node, COMMIT_SINCE)) return stop;
    const graceMs = Math.max(1, (deadline ?? 0) - clock.now());
    return { ...stop, stopAfter: "commit", graceMs };
  }

  #describe(member: MemberRow): DesiredMember {
    const { bridges, jobs, members, workloads } = this.#tables;
    const job = jobs.get(member.job_id)!;
    const attempt = this.#db
      .prepare<[string], AttemptRow>("SELECT * FROM attempts WHERE id = ?")
      .get(member.attempt_id)!;
    const all = members.ofAttempt(attempt.id);
    const sites = [...new Set(all.map(({ site }) => site).filter((site) => site !== null))];
    const workload = workloads.of(job);
    const bridge = bridges.of(member, attempt, all, workload.isReached);
    const inputs = inputRows(this.#db, workload, member);
    const cache = this.#cacheOf(member.node_id);
    const owner = cache?.project === job.project_id ? cache.rule.owner : null;
    return {
      member: member.id,
      job: job.id,
      attempt: attempt.id,
      graceMs: DEADLINES.stopGraceMs,
      ...standingOf(member),
      ...this.#orderOf(job, member),
      image: memberImageReference(job, member),
      resources: {
        ...(JSON.parse(member.resources) as MemberResources),
        workers: members.workersOf(member.id),
      },
      payload: workload.describe({
        ...{ job, attempt, member, sites, bridge },
        inputs: inputs.map(({ kind, target, shard_index }) => ({
          kind,
          target,
          shardIndex: shard_index,
        })),
        returnsSiteFiles: members.returnsFiles(job),
        knowsMetrics: members.nodeSpeaks(member.node_id, PRINTED_METRICS_SINCE),
        refusesNonFinite: members.refusesNonFinite(job),
      }),
      ...(bridge === null ? {} : { bridge }),
      ...(workload.maySleep && members.nodeSpeaks(member.node_id, STANDING_SINCE)
        ? { wish: { order: member.wish_order, asleep: member.wishes_sleep === 1 } }
        : {}),
      inputs: inputs.map((input) => {
        const { id, kind, target, size_bytes, etag, sha256 } = input;
        const version = owner === null || sha256 !== null ? null : objectVersionName(input);
        return {
          ...{ id, kind, target, etag },
          ...(sha256 === null ? {} : { sha256 }),
          ...(version === null ? {} : { version }),
          sizeBytes: size_bytes,
        };
      }),
      ...(owner === null ? {} : { cacheOwner: owner }),
    };
  }
}

/** What changes of a member that its node knows. */
function standingOf({
  generation,
  counter,
  desired,
  stop_reason: stopReason,
}: MemberRow): Pick<DesiredMember, "fence" | "desired" | "stopReason"> {
  return {
    ...{ fence: { generation, counter }, desired },
    ...(desired === "stop" && stopReason !== null ? { stopReason } : {}),
  };
}

export type StageableInput = InputRow & {
  bucket: string;
  key: string;
  version_id: string;
  shard_index: number | null;
};

/** Inputs that this member may read, with where they are. */
export function inputRows(
  db: WriteHandle,
  workload: Pick<Workload, "reads">,
  member: Pick<MemberRow, "role" | "is_lead" | "shard_index" | "attempt_id" | "job_id">,
): StageableInput[] {
  const accepted = db
    .prepare<[string], StageableInput>(
      `SELECT job_inputs.id, job_inputs.kind, target, size_bytes, etag, sha256, coalesce(job_inputs.bucket, jobs.bucket) AS bucket, key, version_id,
         shard_index
       FROM job_inputs JOIN jobs ON jobs.id = job_id
       WHERE job_id = ? ORDER BY length(job_inputs.id), job_inputs.id`,
    )
    .all(member.job_id)
    .filter(({ kind, shard_index }) => workload.reads(member, { kind, shardIndex: shard_index }));
  return member.is_lead === 1 ? [...accepted, ...committedModel(db, member.attempt_id)] : accepted;
}

/** The model that a resumed attempt goes on from, as an input of its lead like any other. */
function committedModel(db: WriteHandle, attemptId: string): StageableInput[] {
  return db
    .prepare<[string], StageableInput>(
      `SELECT 'resume' AS id, 'checkpoint' AS kind, 'resume/model.pt' AS target, size_bytes, uploads.etag, sha256, bucket, key, version_id,
         NULL AS shard_index
       FROM attempts JOIN uploads ON uploads.id = attempts.resumed_from WHERE attempts.id = ?`,
    )
    .all(attemptId);
}
