/**
 * Puts calls on record, batch by batch: first into the journal, then as one leaf into the audit log. What began while a batch is written makes
 * the next one, so a batch costs one write and one leaf however many calls it has.
 */
import { randomUUID } from "node:crypto";
import { type AuditProducer, AuditUnavailable } from "@resontech/audit/producer";
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { BatchHead, CallBegun, CallEnded, CallLine, OutLine } from "./call-line.ts";
import type { CallJournal } from "./call-journal.ts";
import { calledBy } from "./called-by.ts";
import type { EndNotes } from "./end-notes.ts";

const MAX_LINES = 256;
/** Ends wait so long for calls to go with. */
const ENDS_MS = 500;
/** Ends that wait for auditd; above it no call is taken. */
const MAX_ENDS = 100_000;

/** A line as the journal and the tree of its batch have it. */
type Written = { kind: CallLine["kind"]; text: string; call: CallBegun | null };
type Begun = Written & { resolve: () => void; reject: (error: unknown) => void };
type Producer = Pick<AuditProducer, "fact" | "connected">;

export class CallRecorder implements AsyncDisposable {
  readonly #journal: CallJournal;
  readonly #notes: Pick<EndNotes, "note" | "settle">;
  readonly #producer: Producer;
  readonly #onError: (error: unknown) => void;
  readonly #begun: Begun[] = [];
  readonly #ended: Written[] = [];
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    journal: CallJournal,
    notes: Pick<EndNotes, "note" | "settle">,
    producer: Producer,
    onError: (error: unknown) => void,
  ) {
    this.#journal = journal;
    this.#notes = notes;
    this.#producer = producer;
    this.#onError = onError;
  }

  /** False: no call could be put on record now, so none is to be made. */
  get isAvailable(): boolean {
    return !this.#isClosed && this.#producer.connected && this.#ended.length < MAX_ENDS;
  }

  /** Resolves once the log has it: only then may a byte of the answer leave. @throws AuditUnavailable, or what the disk says */
  begin(line: CallBegun): Promise<void> {
    return this.#put(line);
  }

  /** Resolves once the log has it: only then may somebody outside be dialled, or what is kept for them go. @throws as {@link begin} */
  note(line: OutLine): Promise<void> {
    return this.#put(line);
  }

  /** Is sent with a later batch, until the log has it. A gateway that is killed before that finds it noted. */
  end(line: CallEnded): void {
    const written = writtenOf(line);
    this.#ended.push(written);
    try {
      this.#notes.note(written.text);
    } catch (error) {
      this.#onError(error);
    }
    this.#timer ??= setTimeout(() => this.#run(), ENDS_MS);
  }

  /** What has ended is put on record, where auditd is there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#run();
    await this.#running;
  }

  #put(line: CallBegun | OutLine): Promise<void> {
    if (this.#isClosed) return Promise.reject(new AuditUnavailable("closed", "the gateway stops"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#begun.push({ ...writtenOf(line), resolve, reject });
    this.#run();
    return promise;
  }

  #run(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#writeAll().finally(() => {
      this.#running = null;
      // Whoever begins at once when an earlier call is on record comes too late for that turn.
      if (this.#begun.length > 0) this.#run();
      if (this.#ended.length > 0 && !this.#isClosed)
        this.#timer ??= setTimeout(() => this.#run(), ENDS_MS);
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#begun.length > 0 || this.#ended.length > 0) {
      // Ends alone would be written to the journal again and again.
      if (this.#begun.length === 0 && !this.#producer.connected) return;
      const begun = this.#begun.splice(0, MAX_LINES);
      const ended = this.#ended.splice(0, MAX_LINES - begun.length);
      try {
        await this.#write([...begun, ...ended]);
        for (const { resolve } of begun) resolve();
        if (this.#ended.length === 0) this.#notes.settle();
      } catch (error) {
        for (const { reject } of begun) reject(error);
        this.#ended.unshift(...ended);
        this.#onError(error);
        // What waits is tried again later; a call that came meanwhile has its own try at once.
        if (this.#begun.length === 0) return;
      }
    }
  }

  async #write(lines: readonly Written[]): Promise<void> {
    const begun = lines.flatMap(({ call }) => call ?? []);
    const calls = begun.length;
    const ends = lines.filter(({ kind }) => kind === "end").length;
    const texts = lines.map(({ text }) => text);
    const tree = new Frontier();
    for (const text of texts) tree.append(hashLeaf(Buffer.from(text, "utf8")));
    const root = tree.root().toString("hex");
    const [id, at] = [randomUUID(), new Date().toISOString()];
    const head: BatchHead = { kind: "batch", id, at, lines: lines.length, root };
    await this.#journal.append(`${[JSON.stringify(head), ...texts].join("\n")}\n`);
    await this.#producer.fact({
      ...{ type: "model.calls", op: id, action: "calls of deployments" },
      actor: { sub: "serving", kind: "system" },
      object: { kind: "appliance", id },
      detail: { batch: id, root, lines: lines.length, calls, ends, ...calledBy(begun) },
    });
  }
}

function writtenOf(line: CallLine): Written {
  return {
    kind: line.kind,
    text: JSON.stringify(line),
    call: line.kind === "call" ? line : null,
  };
}
