import { randomUUID } from "node:crypto";
import type { SignReply, SignRequest } from "@resontech/contracts/agent-protocol";
import type { CertificateProfile } from "@resontech/contracts/certificate-profile";
import type { AuditGate } from "../audit-ports.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import type { NodeCaller } from "../authorization/caller.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { isMemberWorking } from "../kernel/decisions/member-machine.ts";
import type { JobTable } from "../kernel/job-table.ts";
import type { AttemptRow, MemberRow } from "../kernel/rows.ts";
import type { Workloads } from "../kernel/workload.ts";
import { AgentRefusal } from "../kernel/agent-refusal.ts";
import { type AttemptRoot, makeAttemptRoot, signAttemptLeaf } from "./attempt-certificates.ts";
import { certificateSha256 } from "./certificate-authority.ts";
import type { Registry } from "./registry.ts";

export type SigningParts = {
  db: WriteHandle;
  commit: GroupCommit;
  gate: AuditGate;
  registry: Registry;
  jobs: JobTable;
  workloads: Workloads;
};

/** Certificates of an attempt's own authority, for keys made on the members' nodes; names come from the attempt, never from the request. */
export class AttemptSigning {
  readonly #parts: SigningParts;

  constructor(parts: SigningParts) {
    this.#parts = parts;
  }

  /** @throws AgentRefusal `stale_fence`, `not_allowed`; ApiError `csr_invalid`; AuditUnavailable */
  async sign(
    caller: NodeCaller,
    { member: id, fence, identity, csr }: SignRequest,
  ): Promise<SignReply> {
    const { registry, gate } = this.#parts;
    const member = registry.fenced(caller, id, fence);
    if (member.desired !== "run" || !isMemberWorking(member.state))
      throw new AgentRefusal("not_allowed", `member ${id} needs no certificate any more`);
    const root = await this.#root(member.attempt_id);
    const cert = await signAttemptLeaf(root, this.#profile(member, identity), csr);
    await gate.fact({
      type: "key.certificate.issue",
      op: randomUUID(),
      actor: actorOf(caller),
      object: { kind: "node", id: caller.node },
      detail: {
        ...fence,
        node: caller.node,
        member: id,
        identity,
        certificate_sha256: certificateSha256(cert),
      },
    });
    registry.fenced(caller, id, fence);
    return { cert, rootCert: root.certPem };
  }

  #profile(member: MemberRow, identity: SignRequest["identity"]): CertificateProfile {
    const { jobs, workloads } = this.#parts;
    const job = jobs.get(member.job_id)!;
    const found = workloads.has(job.kind)
      ? workloads.of(job).certificate(member, identity, this.#attempt(member.attempt_id))
      : null;
    if (found === null)
      throw new AgentRefusal(
        "not_allowed",
        `member ${member.id} has no certificate as ${identity}`,
      );
    return found;
  }

  /** Made at the first request; of two made at once the first stored one stands. */
  async #root(attemptId: string): Promise<AttemptRoot> {
    const known = rootOf(this.#attempt(attemptId));
    if (known !== null) return known;
    const made = await makeAttemptRoot(attemptId);
    const stored = await this.#parts.commit.run(() => {
      this.#parts.db
        .prepare(
          "UPDATE attempts SET ca_cert = ?, ca_key = ? WHERE id = ? AND ca_cert IS NULL AND ended_at IS NULL",
        )
        .run(made.certPem, made.keyPem, attemptId);
      return rootOf(this.#attempt(attemptId));
    });
    if (stored === null) throw new AgentRefusal("stale_fence", `attempt ${attemptId} is over`);
    return stored;
  }

  #attempt(id: string): AttemptRow {
    return this.#parts.db
      .prepare<[string], AttemptRow>("SELECT * FROM attempts WHERE id = ?")
      .get(id)!;
  }
}

function rootOf({ ca_cert, ca_key }: AttemptRow): AttemptRoot | null {
  return ca_cert === null || ca_key === null ? null : { certPem: ca_cert, keyPem: ca_key };
}
