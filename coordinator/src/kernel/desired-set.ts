import {
  type DesiredMember,
  type DesiredReply,
  type StagedInput,
  WISH_SINCE,
} from "@resontech/contracts/agent-protocol";
import type { WriteHandle } from "../db/open-database.ts";
import { agentProtocolOf } from "./agent-protocol-of.ts";
import { DEADLINES } from "./decisions/deadlines.ts";
import type { MemberResources } from "./decisions/resources.ts";
import { imageReference } from "./job-images.ts";
import type { AttemptRow, MemberRow, NodeRow } from "./rows.ts";
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

  constructor(db: WriteHandle, tables: KernelTables, transitions: Transitions) {
    this.#db = db;
    this.#tables = tables;
    this.#transitions = transitions;
  }

  /** Inside a transaction. A member that the answer has no room for stays LEASED: its deadline passes, and another node is tried. */
  claimAndTell(nodeId: string): DesiredReply {
    for (const { id, job_id } of this.#withRoom(this.#membersOn(nodeId))) {
      this.#transitions.moveMember(id, "claim");
      this.#transitions.settle(job_id);
    }
    const version = this.#db
      .prepare<[string], number>("SELECT desired_version FROM nodes WHERE id = ?")
      .pluck()
      .get(nodeId);
    const told = this.#membersOn(nodeId).filter(({ state }) => state !== "LEASED");
    return { version: version ?? 0, members: told.map((member) => this.#describe(member)) };
  }

  /** Of the members that the node has not heard of, those that fit beside what it has. */
  #withRoom(members: readonly MemberRow[]): MemberRow[] {
    const leased = members.filter(({ state }) => state === "LEASED");
    if (leased.length === 0) return [];
    const bytesOf = (member: MemberRow): number =>
      Buffer.byteLength(JSON.stringify(this.#describe(member)));
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

  #knowsWishes(nodeId: string): boolean {
    const node = this.#db
      .prepare<[string], NodeRow>("SELECT * FROM nodes WHERE id = ?")
      .get(nodeId);
    return node !== undefined && agentProtocolOf(node) >= WISH_SINCE;
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
    return {
      member: member.id,
      job: job.id,
      attempt: attempt.id,
      fence: { generation: member.generation, counter: member.counter },
      desired: member.desired,
      ...(member.desired === "stop" && member.stop_reason !== null
        ? { stopReason: member.stop_reason }
        : {}),
      graceMs: DEADLINES.stopGraceMs,
      image: imageReference(job, member),
      resources: {
        ...(JSON.parse(member.resources) as MemberResources),
        workers: member.worker_id === null ? [] : [member.worker_id],
      },
      payload: workload.describe({
        ...{ job, attempt, member, sites, bridge },
        inputs: inputs.map(({ kind, target, shard_index }) => ({
          kind,
          target,
          shardIndex: shard_index,
        })),
        returnsSiteFiles: members.returnsFiles(job),
      }),
      ...(bridge === null ? {} : { bridge }),
      ...(workload.hasReplicas && this.#knowsWishes(member.node_id)
        ? { wish: { order: member.wish_order, asleep: member.wishes_sleep === 1 } }
        : {}),
      inputs: inputs.map(({ id, kind, target, size_bytes, etag, sha256 }) => ({
        ...{ id, kind, target, etag },
        ...(sha256 === null ? {} : { sha256 }),
        sizeBytes: size_bytes,
      })),
    };
  }
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
