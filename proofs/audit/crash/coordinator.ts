/** A producer whose rows outlive auditd: after each of its lives it presents its highest acknowledgement and sends again what has none. */
import {
  type AuditRecordProducer,
  AuditUnavailable,
  type ComposedEvent,
  connectRecordProducer,
  type LeafRef,
} from "@resontech/audit/producer";
import type { AuditdProcess } from "./auditd-process.ts";
import type { Ack } from "./promises.ts";
import { BOOT, type Rows } from "./rows.ts";

/** More are never under way. */
export const MAX_BURST = 60;

export class Coordinator {
  readonly rows: Rows;
  readonly #auditd: AuditdProcess;
  readonly #random: () => number;
  readonly #onAcks: (acks: readonly Ack[]) => void;
  #acknowledged = 0;
  #highestAck: LeafRef | undefined;
  #arrived: Ack[] = [];

  /**
   * @param onAcks called before anything else happens in this process with those that came in one frame
   * @param told its highest acknowledgement so far
   */
  constructor(
    auditd: AuditdProcess,
    rows: Rows,
    random: () => number,
    onAcks: (acks: readonly Ack[]) => void,
    told?: Ack,
  ) {
    this.#auditd = auditd;
    this.rows = rows;
    this.#random = random;
    this.#onAcks = onAcks;
    this.#acknowledged = told?.pseq ?? 0;
    this.#highestAck = told && { index: told.index, leafHash: told.leafHash };
  }

  /** Resolves once so many rows are acknowledged, and all older ones. @throws when `signal` aborts */
  async write(count: number, signal: AbortSignal): Promise<void> {
    const { recordSocket: socketPath } = this.#auditd;
    await using producer = await connectRecordProducer({
      socketPath,
      boot: BOOT,
      highestAck: this.#highestAck,
      signal,
    });
    await Promise.all(
      this.rows.all.slice(this.#acknowledged).map((row) => this.#send(producer, row)),
    );
    for (let left = count; left > 0; ) {
      // Half of the bursts are a single row: its acknowledgement is then the last thing that happens before the next call.
      const burst = this.#random() < 0.5 ? 1 : Math.ceil(this.#random() * MAX_BURST);
      const refs = await Promise.all(
        Array.from({ length: burst }, () => this.#send(producer, this.rows.next())),
      );
      if (this.#random() < 0.1) await producer.covered(refs.at(-1)!.index).catch(ignoreUnavailable);
      left -= burst;
    }
  }

  async #send(producer: AuditRecordProducer, row: ComposedEvent): Promise<LeafRef> {
    const ref = await producer.append(row);
    this.#acknowledged = Math.max(this.#acknowledged, row.pseq);
    // Rows are sent in the order of their numbers; an index says nothing across shards.
    if (row.pseq === this.#acknowledged) this.#highestAck = ref;
    // Those of one frame settle in one turn of the microtask queue.
    if (this.#arrived.push({ pseq: row.pseq, ...ref }) === 1) queueMicrotask(() => this.#tell());
    return ref;
  }

  #tell(): void {
    const acks = this.#arrived;
    this.#arrived = [];
    this.#onAcks(acks);
  }
}

/** Its shard may have turned meanwhile: its last checkpoint covers the leaf. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof AuditUnavailable)) throw error;
}
