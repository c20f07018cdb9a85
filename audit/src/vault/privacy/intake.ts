/**
 * Takes over from auditd what opens commitments: keys durable, then the sealed rows, then auditd's own copy goes. A kill between two steps brings the
 * segment again, and nothing of it is doubled; what was erased meanwhile is not sealed again.
 */
import type { LeafRef, Spooled } from "../../producer/producer.ts";
import { readSegment } from "../decisions/read-segment.ts";
import type { KeyTable } from "../keys/key-table.ts";
import type { CommitmentStore, SealedCommitment } from "./commitment-store.ts";
import { sealValue } from "./sealed-value.ts";

export type Spool = {
  spooled: () => Promise<Spooled | null>;
  sealed: (origin: string, segment: string) => Promise<void>;
};

export class Intake {
  readonly #keys: KeyTable;
  readonly #store: CommitmentStore;

  constructor(keys: KeyTable, store: CommitmentStore) {
    this.#keys = keys;
    this.#store = store;
  }

  /**
   * @param upTo ends once what the leaf came with, and all before it, is sealed; without it once nothing waits any more
   * @throws AuditUnavailable while auditd is away
   */
  async drain(spool: Spool, signal: AbortSignal, upTo?: LeafRef & { origin: string }): Promise<void> {
    for (let spooled = await spool.spooled(); spooled !== null; spooled = await spool.spooled()) {
      signal.throwIfAborted();
      await this.#seal(spooled);
      await spool.sealed(spooled.origin, spooled.segment);
      if (upTo !== undefined && spooled.origin === upTo.origin && spooled.lastIndex >= upTo.index) return;
    }
  }

  async #seal({ origin, text }: Spooled): Promise<void> {
    const rows: SealedCommitment[] = [];
    for (const { index, field, commitment, subject, month, salt, value } of readSegment(text)) {
      const key = await this.#keys.keyFor({ subject, month });
      const bytes = Buffer.from(commitment, "hex");
      rows.push({ origin, index, field, commitment: bytes, subject, month, sealed: sealValue(key, bytes, salt, value) });
    }
    this.#store.add(rows);
  }
}
