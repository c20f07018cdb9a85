/** What witnesses say of one shard's checkpoints: checked, merged, waited for. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { WithRoom } from "@resontech/frame/durable-file";
import { CosignedCheckpoints } from "../decisions/cosigned-checkpoints.ts";
import { witnessLag } from "../decisions/witness-lag.ts";
import {
  openCheckpoint,
  type SignedCheckpoint,
  verifiedTime,
} from "@resontech/audit/format/note/checkpoint";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import type { Policy } from "@resontech/audit/format/note/policy";
import { isLineOf, parseSignatureLines } from "@resontech/audit/format/note/signed-note";
import { WITNESS_WAIT_MS, type Witnessed } from "@resontech/audit/format/wire/frames";
import { CheckpointFiles } from "../checkpoint/checkpoint-files.ts";
import type { TrustPolicy } from "./trust-policy.ts";

type Waiter = { index: number; settle: () => void };
/** Of `audit.witness.lag`. */
export type LagDetail = { since_s: number; witnessed_size: number; size: number; over: boolean };

export class Witnessing {
  readonly #trust: TrustPolicy;
  readonly #keys: readonly NoteKey[];
  readonly #files: CheckpointFiles;
  readonly #cosigned = new CosignedCheckpoints();
  /** When there could be a cosignature at the earliest. */
  readonly #begunMs: number;
  #size: number;
  #waiters: Waiter[] = [];

  private constructor(
    trust: TrustPolicy,
    keys: readonly NoteKey[],
    files: CheckpointFiles,
    begunMs: number,
    size: number,
  ) {
    this.#trust = trust;
    this.#keys = keys;
    this.#files = files;
    this.#begunMs = begunMs;
    this.#size = size;
  }

  /**
   * @param keys of the log
   * @param treeSize leaves that the tiles hold: a newer checkpoint that was witnessed, and that they bear out, becomes `checkpoint`
   * @throws LogDamagedError when a checkpoint is not the log's
   */
  static async open(
    logDir: string,
    keys: readonly NoteKey[],
    treeSize: number,
    trust: TrustPolicy,
    withRoom: WithRoom,
  ): Promise<Witnessing> {
    const published = openOwn(await readFile(join(logDir, "checkpoint"), "utf8"), keys);
    const files = await CheckpointFiles.open(logDir, published.size, withRoom);
    const note = await files.readWitnessed();
    const witnessed = note === null ? null : openOwn(note, keys);
    let newest = published;
    if (witnessed !== null && witnessed.size > published.size && witnessed.size <= treeSize) {
      await files.publish(witnessed.size, note!);
      newest = witnessed;
    }
    const witnessing = new Witnessing(
      trust,
      keys,
      files,
      (await stat(logDir)).birthtimeMs,
      newest.size,
    );
    witnessing.#remember(newest);
    const policy = await trust.current();
    witnessing.#cosigned.cosign(newest.size, newest.signatures, policy);
    // By a policy that has changed it may be worth nothing now.
    if (witnessed !== null && policy.isQuorum(cosignersOf(witnessed, policy)))
      files.witnessedSize = witnessed.size;
    return witnessing;
  }

  /** A checkpoint that the log signed; durable when it resolves. */
  async publish(size: number, note: string): Promise<void> {
    await this.#files.publish(size, note);
    this.#size = size;
    this.#remember(openOwn(note, this.#keys));
  }

  /** Lines of witnesses for the log's checkpoint of this size; what they change is durable when it resolves. */
  async cosign(size: number, text: string): Promise<{ accepted: number }> {
    const policy = await this.#trust.current();
    const cosigned = this.#cosigned.cosign(size, parseSignatureLines(text) ?? [], policy);
    if (cosigned === null || cosigned.accepted === 0) return { accepted: 0 };
    await this.#files.merge(size, cosigned.note);
    if (cosigned.hasQuorum) {
      await this.#files.setWitnessed(size, cosigned.note);
      for (const { index, settle } of this.#waiters) if (index < size) settle();
    }
    return { accepted: cosigned.accepted };
  }

  /** Resolves once a checkpoint with the policy's quorum covers the leaf, and after 5 s without; at once when the policy asks for no witness. */
  async witnessed(index: number): Promise<Omit<Witnessed, "mayGoOn">> {
    const { needsWitness } = await this.#trust.current();
    if (needsWitness && index >= this.#files.witnessedSize)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => waiter.settle(), WITNESS_WAIT_MS);
        const waiter: Waiter = {
          index,
          settle: () => {
            clearTimeout(timer);
            this.#waiters = this.#waiters.filter((other) => other !== waiter);
            resolve();
          },
        };
        this.#waiters.push(waiter);
      });
    const { witnessedSize } = this.#files;
    return { needsWitness, witnessed: needsWitness && index < witnessedSize, witnessedSize };
  }

  /**
   * What the log must say now of going without cosignatures; null when nothing changed.
   * @param isTold it says so already
   */
  lagNow(policy: Policy, nowMs: number, isTold: boolean): LagDetail | null {
    const lastMs = Math.max(this.#files.witnessedMs ?? this.#begunMs, this.#trust.changedMs);
    const change = witnessLag(nowMs, policy.needsWitness ? lastMs : nowMs, isTold);
    if (change === null) return null;
    return {
      since_s: Math.max(0, Math.floor((nowMs - lastMs) / 1_000)),
      witnessed_size: this.#files.witnessedSize,
      size: this.#size,
      over: change === "is over",
    };
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const { settle } of this.#waiters) settle();
  }

  #remember(checkpoint: SignedCheckpoint): void {
    this.#cosigned.signed(checkpoint, this.#keys);
  }
}

/** @throws LogDamagedError */
function openOwn(note: string, keys: readonly NoteKey[]): SignedCheckpoint {
  const checkpoint = openCheckpoint(note, keys);
  if (checkpoint === null)
    throw new LogDamagedError(0, "a checkpoint is not signed by the keys of this log");
  return checkpoint;
}

function cosignersOf(checkpoint: SignedCheckpoint, { witnesses }: Policy): ReadonlySet<string> {
  const cosigned = witnesses.filter(({ key }) =>
    checkpoint.signatures.some(
      (line) => isLineOf(line, key) && verifiedTime(checkpoint, line, key),
    ),
  );
  return new Set(cosigned.map(({ name }) => name));
}
