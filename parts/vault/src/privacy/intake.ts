/**
 * Takes over from auditd what opens commitments: keys durable, then the sealed rows, then auditd's own copy goes. A kill between two steps brings the
 * segment again, and nothing of it is doubled; what was erased meanwhile is not sealed again.
 */
import type { LeafRef, Spooled } from "@resontech/audit/producer";
import { readSegment, SegmentFault } from "../decisions/read-segment.ts";
import { UnsealError } from "../keys/aead.ts";
import type { KeyTable } from "../keys/key-table.ts";
import { VaultRefused } from "../vault-refused.ts";
import { type CommitmentStore, type SealedCommitment, SpoolConflict } from "./commitment-store.ts";
import { sealValue } from "./sealed-value.ts";

export type Spool = {
  spooled: () => Promise<Spooled | null>;
  sealed: (origin: string, segment: string) => Promise<void>;
};

/** A segment can't be taken over, however often it comes; nothing behind it is, and nothing is erased. */
export class SpoolBlocked extends VaultRefused {
  override readonly name = "SpoolBlocked";
  readonly origin: string;
  readonly segment: string;
  readonly reason: string;

  constructor({ origin, segment }: Spooled, cause: SegmentFault | SpoolConflict | UnsealError) {
    super(
      "spool_blocked",
      `what waits can't be taken over: ${segment} of ${origin}: ${cause.message}`,
    );
    this.cause = cause;
    this.origin = origin;
    this.segment = segment;
    this.reason = cause.code;
  }
}

export class Intake {
  readonly #keys: KeyTable;
  readonly #store: CommitmentStore;

  constructor(keys: KeyTable, store: CommitmentStore) {
    this.#keys = keys;
    this.#store = store;
  }

  /**
   * @param upTo ends once what the leaf came with, and all before it, is sealed; without it once nothing waits any more
   * @throws AuditUnavailable while auditd is away, SpoolBlocked
   */
  async drain(
    spool: Spool,
    signal: AbortSignal,
    upTo?: LeafRef & { origin: string },
  ): Promise<void> {
    for (let spooled = await spool.spooled(); spooled !== null; spooled = await spool.spooled()) {
      signal.throwIfAborted();
      await this.#seal(spooled);
      await spool.sealed(spooled.origin, spooled.segment);
      if (upTo !== undefined && spooled.origin === upTo.origin && spooled.lastIndex >= upTo.index)
        return;
    }
  }

  async #seal(spooled: Spooled): Promise<void> {
    try {
      await this.#sealAll(spooled);
    } catch (error) {
      if (
        error instanceof SegmentFault ||
        error instanceof SpoolConflict ||
        error instanceof UnsealError
      )
        throw new SpoolBlocked(spooled, error);
      throw error;
    }
  }

  async #sealAll({ origin, text }: Spooled): Promise<void> {
    const rows: SealedCommitment[] = [];
    for (const { index, field, commitment, subject, month, salt, value } of readSegment(text)) {
      const key = await this.#keys.keyFor({ subject, month });
      const bytes = Buffer.from(commitment, "hex");
      rows.push({
        origin,
        index,
        field,
        commitment: bytes,
        subject,
        month,
        sealed: sealValue(key, bytes, salt, value),
      });
    }
    this.#store.add(rows);
  }
}
