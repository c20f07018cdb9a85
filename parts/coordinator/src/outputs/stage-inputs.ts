import { randomUUID } from "node:crypto";
import type { StageReply, StageRequest } from "@resontech/contracts/agent-protocol";
import { committer, urlSha256 } from "@resontech/audit/producer";
import type { AuditGate } from "../audit-ports.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import type { NodeCaller } from "../authorization/caller.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { inputRows, type StageableInput } from "../kernel/desired-set.ts";
import { isMemberWorking } from "../kernel/decisions/member-machine.ts";
import type { JobRow, MemberRow } from "../kernel/rows.ts";
import type { JobTable } from "../kernel/job-table.ts";
import type { Workloads } from "../kernel/workload.ts";
import { AgentRefusal } from "../kernel/agent-refusal.ts";
import type { Registry } from "../nodes/registry.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/** Presigned GETs live an hour: HOSTED-API "Bucket layout". */
const URL_LIFE_S = 3_600;

export type StageParts = {
  db: WriteHandle;
  gate: AuditGate;
  jobs: JobTable;
  workloads: Workloads;
  registry: Registry;
  store: ObjectStore;
};

/** URLs for one member's inputs, each to the version that was accepted. An agent's data access is gated here, where its URL is made. */
export class InputStaging {
  readonly #parts: StageParts;

  constructor(parts: StageParts) {
    this.#parts = parts;
  }

  /** @throws AgentRefusal `stale_fence`, `not_allowed`; AuditUnavailable: then no URL is given out */
  async stage(caller: NodeCaller, { member: id, fence }: StageRequest): Promise<StageReply> {
    const { db, jobs, workloads, registry, store } = this.#parts;
    const member = this.#mayStage(caller, id, fence);
    const job = jobs.get(member.job_id)!;
    if (!workloads.has(job.kind))
      throw new AgentRefusal("not_allowed", `this release does not know jobs of kind ${job.kind}`);
    const inputs = inputRows(db, workloads.of(job), member);
    const urls = await Promise.all(
      inputs.map(async (input) => {
        const url = await store.presignGet(
          ...([input.bucket, input.key, input.version_id, URL_LIFE_S] as const),
        );
        await this.#logAccess(caller, job, member, input, url);
        return { id: input.id, url };
      }),
    );
    // The fence may have moved while the log was written.
    registry.fenced(caller, id, fence);
    return { urls, expiresInS: URL_LIFE_S };
  }

  #mayStage(caller: NodeCaller, id: string, fence: StageRequest["fence"]): MemberRow {
    const member = this.#parts.registry.fenced(caller, id, fence);
    if (member.desired !== "run" || !isMemberWorking(member.state))
      throw new AgentRefusal("not_allowed", `member ${id} has nothing to stage any more`);
    return member;
  }

  async #logAccess(
    caller: NodeCaller,
    job: JobRow,
    member: MemberRow,
    input: StageableInput,
    url: string,
  ): Promise<void> {
    const commit = committer();
    await this.#parts.gate.fact(
      {
        type: "data.stage",
        op: randomUUID(),
        actor: actorOf(caller),
        on_behalf_of: job.user_id,
        object: {
          kind: "object",
          id: commit("object.id", `${input.bucket}/${input.key}?versionId=${input.version_id}`),
        },
        detail: {
          ...{
            generation: member.generation,
            counter: member.counter,
            node: caller.node,
            member: member.id,
          },
          ...{
            job: job.id,
            bytes: input.size_bytes,
            ttl_s: URL_LIFE_S,
            url_sha256: urlSha256(url),
          },
        },
      },
      commit.disclosures,
    );
  }
}
