/**
 * The coordinator's database, by the coordinator's own code: records are rows, with what opens their commitments, until auditd has
 * acknowledged them. What a whole coordinator needs beside it (bus, object store, certificates) keeps nothing of that.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type AuditProducer,
  type AuditRecordProducer,
  connectRecordProducer,
} from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { beginGeneration } from "../../src/audit/begin-generation.ts";
import { recordBoot } from "../../src/audit/record-outbox.ts";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { WriteAheadLog } from "../../src/db/write-ahead-log.ts";
import { buildKernel, type KernelParts } from "../../src/compose/build-kernel.ts";
import { WORKLOADS } from "../../src/workloads/workloads.ts";
import { SteadyClock } from "../../src/kernel/clock.ts";

const DRAIN_MS = 120_000;

/** Call it before auditd starts. */
export function addCoordinatorProducer(root: string, { producers }: AuditdConfig): void {
  producers.push({
    name: "coordinator-record",
    family: "coordinator",
    socket: socketOf(root),
    gid: null,
  });
}

export class CoordinatorDatabase implements AsyncDisposable {
  readonly folder: string;
  readonly #owned: AsyncDisposableStack;
  readonly #parts: KernelParts;
  readonly #root: string;
  readonly #generation: number;
  readonly #faults: string[];

  private constructor(
    folder: string,
    owned: AsyncDisposableStack,
    parts: KernelParts,
    root: string,
    generation: number,
    faults: string[],
  ) {
    this.folder = folder;
    this.#owned = owned;
    this.#parts = parts;
    this.#root = root;
    this.#generation = generation;
    this.#faults = faults;
  }

  /** As a start of the coordinator opens it: its log is emptied once a minute from here on. */
  static async open(root: string, gate: AuditProducer): Promise<CoordinatorDatabase> {
    const folder = join(root, "coordinator");
    mkdirSync(folder, { mode: 0o700 });
    await using stack = new AsyncDisposableStack();
    const { write: db } = stack.use(openDatabase(join(folder, "coordinator.sqlite")));
    const commit = new GroupCommit(db);
    stack.defer(() => commit.close());
    const faults: string[] = [];
    const fault = (what: unknown): void => void faults.push(String(what));
    stack.use(new WriteAheadLog(db, commit, fault));
    const parts = buildKernel({
      ...{ db, commit, clock: new SteadyClock(), workloads: WORKLOADS },
      alarms: {
        ...{ onError: fault, onBrake: fault, onNodeDead: fault, onQuarantine: fault },
        ...{ onClockStep: fault, onAuditRejected: fault, onAuditHalted: fault },
      },
    });
    const generation = await beginGeneration({ ...parts, gate }, "proof", () => {});
    return new CoordinatorDatabase(folder, stack.move(), parts, root, generation, faults);
  }

  /** Resolves when it is durable here; the log has it later. */
  async record(draft: EventDraft, disclosures: readonly Disclosure[]): Promise<void> {
    await this.#parts.commit.run(() => this.#parts.recordOutbox.write(draft, disclosures));
  }

  /** From here on records flow. */
  async attach(): Promise<void> {
    const { commit, recordPump } = this.#parts;
    const producer: AuditRecordProducer = this.#owned.use(
      await connectRecordProducer({
        socketPath: socketOf(this.#root),
        boot: recordBoot(this.#generation),
        firstPseq: 1,
      }),
    );
    recordPump.attach(producer);
    commit.listeners.add(() => recordPump.kick());
  }

  /** Resolves when auditd has all, and no row is left. */
  async drained(): Promise<void> {
    await this.#parts.recordPump.drained(AbortSignal.timeout(DRAIN_MS));
    if (this.waiting > 0 || this.#faults.length > 0)
      throw new Error(
        `${this.waiting} records of the coordinator wait: ${this.#faults.join("; ")}`,
      );
  }

  get waiting(): number {
    return this.#parts.recordPump.backlog().waiting;
  }

  /** Of its write-ahead log. */
  get logBytes(): number {
    return (
      statSync(join(this.folder, "coordinator.sqlite-wal"), { throwIfNoEntry: false })?.size ?? 0
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }
}

function socketOf(root: string): string {
  return join(root, "run/record.sock");
}
