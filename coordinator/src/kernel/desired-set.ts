import type { DesiredMember, DesiredReply, FederationResume, StagedInput } from "@resontech/contracts/agent-protocol";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { WriteHandle } from "../db/open-database.ts";
import { DEADLINES } from "./decisions/deadlines.ts";
import type { MemberResources } from "./decisions/resources.ts";
import type { AttemptRow, JobRow, MemberRow } from "./rows.ts";
import type { Transitions } from "./transitions.ts";

/** Organisation in every federation's certificates: there is one, the appliance. */
export const FEDERATION_ORG = "resontech";
/** A server default of ours; NVFlare's own of 2 s would cost that much in every round. */
const TASK_REQUEST_INTERVAL_MS = 200;

/** The bus carries messages of 8 MiB; what a member says of itself may still grow by a bridge. */
const MAX_SET_BYTES = 6 * 1024 ** 2;

type InputRow = { id: string; kind: StagedInput["kind"]; target: string; size_bytes: number; etag: string; sha256?: string };

/** What must run on a node. Whoever fetches it has been told: members that were only leased are claimed in the same transaction. */
export class DesiredSets {
  readonly #db: WriteHandle;
  readonly #transitions: Transitions;

  constructor(db: WriteHandle, transitions: Transitions) {
    this.#db = db;
    this.#transitions = transitions;
  }

  /** Inside a transaction. A member that the answer has no room for stays LEASED: its deadline passes, and another node is tried. */
  fetch(nodeId: string): DesiredReply {
    for (const { id, job_id } of this.#withRoom(this.#membersOn(nodeId))) {
      this.#transitions.moveMember(id, "claim");
      this.#transitions.settle(job_id);
    }
    const version = this.#db.prepare<[string], number>("SELECT desired_version FROM nodes WHERE id = ?").pluck().get(nodeId);
    const told = this.#membersOn(nodeId).filter(({ state }) => state !== "LEASED");
    return { version: version ?? 0, members: told.map((member) => this.#describe(member)) };
  }

  /** Of the members that the node has not heard of, those that fit beside what it has. */
  #withRoom(members: readonly MemberRow[]): MemberRow[] {
    const leased = members.filter(({ state }) => state === "LEASED");
    if (leased.length === 0) return [];
    const bytesOf = (member: MemberRow): number => Buffer.byteLength(JSON.stringify(this.#describe(member)));
    let bytes = members.filter(({ state }) => state !== "LEASED").reduce((sum, member) => sum + bytesOf(member), 0);
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

  #describe(member: MemberRow): DesiredMember {
    const { bridges, jobs, members } = this.#transitions.parts;
    const job = jobs.get(member.job_id)!;
    const attempt = this.#db.prepare<[string], AttemptRow>("SELECT * FROM attempts WHERE id = ?").get(member.attempt_id)!;
    const all = members.ofAttempt(attempt.id);
    const sites = [...new Set(all.map(({ site }) => site).filter((site) => site !== null))];
    const bridge = bridges.of(member, attempt, all);
    return {
      member: member.id,
      job: job.id,
      attempt: attempt.id,
      role: member.role === "server" ? { kind: "server" } : { kind: "client", index: member.shard_index!, site: member.site! },
      fence: { generation: member.generation, counter: member.counter },
      desired: member.desired,
      ...(member.desired === "stop" && member.stop_reason !== null ? { stopReason: member.stop_reason } : {}),
      graceMs: DEADLINES.stopGraceMs,
      image: (JSON.parse(job.image) as JobImage).reference,
      resources: {
        ...(JSON.parse(member.resources) as MemberResources),
        workers: member.worker_id === null ? [] : [member.worker_id],
      },
      federation: {
        org: FEDERATION_ORG,
        serverName: attempt.server_name,
        serverPort: attempt.server_port,
        sites,
        minClients: job.min_clients,
        numRounds: job.num_rounds,
        taskRequestIntervalMs: TASK_REQUEST_INTERVAL_MS,
        isResumable: job.resumable === 1,
        ...(members.returnsFiles(job) ? { returnsSiteFiles: true } : {}),
        resume: resumeOf(job, attempt),
      },
      ...(bridge === null ? {} : { bridge }),
      inputs: this.#inputsOf(job, member),
    };
  }

  /** The server gets code and warm start, which NVFlare deploys; a client its shard alone. */
  #inputsOf(job: JobRow, member: MemberRow): StagedInput[] {
    return inputRows(this.#db, job.id, member).map(({ id, kind, target, size_bytes, etag, sha256 }) => ({
      ...{ id, kind, target, etag },
      ...(sha256 === undefined ? {} : { sha256 }),
      sizeBytes: size_bytes,
    }));
  }
}

function resumeOf(job: JobRow, attempt: AttemptRow): FederationResume | null {
  if (attempt.resumed_from === null || job.num_rounds === null) return null;
  return { startRound: attempt.start_round, roundsLeft: job.first_round + job.num_rounds - attempt.start_round };
}

export type StageableInput = InputRow & { key: string; version_id: string };

/** Inputs that this member may read, with where they are. */
export function inputRows(
  db: WriteHandle,
  jobId: string,
  member: Pick<MemberRow, "role" | "shard_index" | "attempt_id">,
): StageableInput[] {
  const mine = member.role === "server" ? "kind IN ('script', 'config', 'model')" : "kind = 'shard' AND shard_index = @shard";
  const accepted = db
    .prepare<[{ jobId: string; shard: number | null }], StageableInput>(
      `SELECT id, kind, target, size_bytes, etag, key, version_id FROM job_inputs
       WHERE job_id = @jobId AND ${mine} ORDER BY length(id), id`,
    )
    .all({ jobId, shard: member.shard_index });
  return member.role === "server" ? [...accepted, ...committedModel(db, member.attempt_id)] : accepted;
}

/** The model that a resumed attempt goes on from, as an input like any other. */
function committedModel(db: WriteHandle, attemptId: string): StageableInput[] {
  return db
    .prepare<[string], StageableInput>(
      `SELECT 'resume' AS id, 'checkpoint' AS kind, 'resume/model.pt' AS target, size_bytes, uploads.etag, sha256, key, version_id
       FROM attempts JOIN uploads ON uploads.id = attempts.resumed_from WHERE attempts.id = ?`,
    )
    .all(attemptId);
}
