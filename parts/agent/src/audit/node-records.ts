/** What a node's agent says of its members in the audit log, under its own key. */
import { committer } from "@resontech/audit/producer";
import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import type { SignedJournal } from "./signed-journal.ts";

export class NodeRecords {
  readonly #journal: Pick<SignedJournal, "append">;
  readonly #node: string;

  constructor(journal: Pick<SignedJournal, "append">, node: string) {
    this.#journal = journal;
    this.#node = node;
  }

  /** What of a report belongs into the log; AGENT_AUDIT says which does. Before the report itself is spooled. */
  reported(desired: DesiredMember, event: MemberEvent): void {
    const of = ofMember(desired);
    const object = { kind: "member", id: desired.member } as const;
    switch (event.kind) {
      case "staged": {
        const detail = { ...of, bytes: event.bytes, inputs: desired.inputs.length };
        return this.#journal.append({ type: "job.node.staged", object, detail });
      }
      case "started":
        return this.#journal.append({
          type: "job.node.started",
          object,
          detail: { ...of, container: event.container },
        });
      case "failed":
        return this.#journal.append({
          type: "job.node.failed",
          object,
          detail: { ...of, reason: event.reason },
        });
      case "released": {
        const { processesGone, diskGone, devicesAtBaseline } = event;
        const proof = {
          processes_gone: processesGone,
          disk_gone: diskGone,
          devices_at_baseline: devicesAtBaseline,
        };
        return this.#journal.append({
          type: "job.node.released",
          object,
          detail: { ...of, ...proof },
        });
      }
      case "progress":
      case "ready":
      case "standing":
      case "job-started":
      case "round-started":
      case "round-ended":
      case "checkpoint":
      case "metric":
      case "warning":
      case "finished":
      case "outputs-uploaded":
        return;
    }
  }

  /** The engine has the image, asked for by its digest. */
  image(desired: DesiredMember, pulled: boolean): void {
    const digest = /@sha256:([0-9a-f]{64})$/.exec(desired.image)?.[1];
    this.#journal.append({
      type: "job.node.image",
      object: { kind: "member", id: desired.member },
      ...(digest === undefined ? {} : { digests: { image: digest } }),
      detail: { ...ofMember(desired), pulled },
    });
  }

  ended(desired: DesiredMember, exitCode: number, outOfMemory: boolean): void {
    const detail = { ...ofMember(desired), exit_code: exitCode, out_of_memory: outOfMemory };
    this.#journal.append({
      type: "job.node.ended",
      object: { kind: "member", id: desired.member },
      detail,
    });
  }

  /** Before a byte of it leaves. A digest of data can be guessed, so it is a commitment. */
  output(
    desired: DesiredMember,
    { sizeBytes, sha256, area }: { sizeBytes: number; sha256: string; area: string },
  ): void {
    const commit = committer();
    const digests = { output: commit("digests.output", sha256) };
    const detail = { ...ofMember(desired), bytes: sizeBytes, area };
    const object = { kind: "member", id: desired.member } as const;
    this.#journal.append(
      { type: "model.node.output", object, digests, detail },
      commit.disclosures,
    );
  }

  leaseLost(members: number): void {
    this.#journal.append({
      type: "job.node.lease-lost",
      object: { kind: "node", id: this.#node },
      detail: { members },
    });
  }
}

function ofMember({ job, attempt, fence }: DesiredMember) {
  return { job, attempt, generation: fence.generation, counter: fence.counter };
}
