import { type AuditProducer, composeEvent } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { RecordEvent } from "../../src/audit-ports.ts";

/** A gate that checks every event as auditd does and keeps it; what it is told to refuse, it refuses. */
export class RecordingAudit {
  readonly drafts: EventDraft[] = [];
  readonly leaves: string[] = [];
  /** Thrown by the gate instead of an acknowledgement. */
  refusal: Error | null = null;

  readonly gate: Pick<AuditProducer, "requested" | "fact"> = {
    requested: async (draft, disclosures) =>
      this.#take({ ...draft, phase: "requested" }, disclosures, true),
    fact: async (draft, disclosures) => this.#take({ ...draft, phase: "fact" }, disclosures, true),
  };
  readonly record: RecordEvent = (_, draft, disclosures) =>
    void this.#take(draft, disclosures, false);

  /** `type:phase` of each event in order. */
  get names(): string[] {
    return this.drafts.map(({ type, phase }) => `${type}:${phase}`);
  }

  #take(draft: EventDraft, disclosures: readonly Disclosure[] | undefined, isGate: boolean) {
    if (isGate && this.refusal !== null) throw this.refusal;
    const { event } = composeEvent(
      draft,
      { boot: "test", pseq: this.drafts.length + 1 },
      disclosures ?? [],
    );
    this.drafts.push(draft);
    this.leaves.push(event);
    return { index: this.drafts.length, leafHash: "0".repeat(64), unwitnessed: false };
  }
}
