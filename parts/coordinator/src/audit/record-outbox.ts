import { composeEvent } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { Meta } from "../db/meta.ts";
import type { WriteHandle } from "../db/open-database.ts";

/** `boot` of the record producer: one for each generation of the database. */
export const recordBoot = (generation: number): string => `g${generation}`;

/**
 * Records of what the kernel did: rows of `audit_outbox`, written by the transaction that they tell of, so that neither can
 * exist without the other. Numbers have no gaps; the pump sends them in their order.
 */
export class RecordOutbox {
  readonly #meta: Meta;
  readonly #insert;
  readonly #now: () => number;

  constructor(db: WriteHandle, meta: Meta, now: () => number) {
    this.#meta = meta;
    this.#now = now;
    this.#insert = db.prepare(
      "INSERT INTO audit_outbox (pseq, event, disclosures, created_at) VALUES (?, ?, ?, ?)",
    );
  }

  /** Inside a transition. @throws AuditRejected for an event that breaks a rule: the transition then does not happen */
  write(draft: EventDraft, disclosures: readonly Disclosure[] = []): void {
    const boot = recordBoot(this.#meta.number("generation"));
    const composed = composeEvent(
      draft,
      { boot, pseq: this.#meta.next("record-pseq"), nowMs: this.#now() },
      disclosures,
    );
    this.#insert.run(
      composed.pseq,
      composed.event,
      JSON.stringify(composed.disclosures),
      this.#now(),
    );
  }
}
