/**
 * What this node says in the audit log, kept on its disk until the log has it. Numbers count from 1 through every restart of the agent, so that
 * what is kept back on the way shows as a gap; a journal that was lost begins a new life, which shows as well.
 */
import { randomUUID, sign } from "node:crypto";
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type ComposedEvent, composeEvent } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import {
  MAX_RELAYED_BYTES,
  MAX_RELAYED_EVENTS,
  NODE_EVENT_LABEL,
  type NodeEventType,
  type SignedNodeEvent,
} from "@resontech/contracts/node-audit";
import { replaceFileNow } from "@resontech/frame/durable-file-now";

/** From here on no member is begun; those that are there have room for their ends. */
const FULL_EVENTS = 20_000;

type Head = { boot: string; settledPseq: number };
type Pending = SignedNodeEvent & { pseq: number };

export class SignedJournal implements Disposable {
  readonly #headFile: string;
  readonly #fd: number;
  readonly #keyPem: string;
  readonly #node: string;
  readonly #onAppend: () => void;
  #head: Head;
  #pending: Pending[];
  #nextPseq: number;
  #bytes: number;

  /** @param dataDir the agent's own folder */
  constructor({
    dataDir,
    node,
    keyPem,
    onAppend,
  }: { dataDir: string; node: string; keyPem: string; onAppend: () => void }) {
    const folder = join(dataDir, "audit");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#headFile = join(folder, "head.json");
    this.#keyPem = keyPem;
    this.#node = node;
    this.#onAppend = onAppend;
    this.#head = readHead(this.#headFile);
    this.#fd = openSync(join(folder, "pending.jsonl"), "a+", 0o600);
    const { events, bytes } = readPending(readFileSync(this.#fd));
    // A line that was not written whole was told to nobody.
    ftruncateSync(this.#fd, bytes);
    this.#bytes = bytes;
    // Signed anew: the node may have another key than when it wrote them, and the log knows it by the certificate that it has now.
    this.#pending = events
      .filter(({ pseq }) => pseq > this.#head.settledPseq)
      .map((event) => this.#sign(event));
    this.#nextPseq = (this.#pending.at(-1)?.pseq ?? this.#head.settledPseq) + 1;
    syncFolder(this.#headFile);
  }

  get boot(): string {
    return this.#head.boot;
  }

  /** The log has not taken so much that nothing new may begin. */
  get isFull(): boolean {
    return this.#pending.length >= FULL_EVENTS;
  }

  /** Durable when it returns. @throws AuditRejected for an event that breaks a rule, and what the disk says */
  append(
    draft: Pick<EventDraft<NodeEventType>, "type" | "object" | "detail" | "digests">,
    disclosures: readonly Disclosure[] = [],
  ): void {
    const composed = composeEvent(
      { ...draft, phase: "fact", op: randomUUID(), actor: { sub: this.#node, kind: "node" } },
      { boot: this.#head.boot, pseq: this.#nextPseq },
      disclosures,
    );
    const pending = this.#sign(composed);
    const line = Buffer.from(`${JSON.stringify(pending)}\n`, "utf8");
    // A first try that found no room may have left a part.
    ftruncateSync(this.#fd, this.#bytes);
    writeSync(this.#fd, line);
    fdatasyncSync(this.#fd);
    this.#bytes += line.length;
    this.#nextPseq += 1;
    this.#pending.push(pending);
    this.#onAppend();
  }

  /** The oldest that wait, as many as travel together. */
  next(): SignedNodeEvent[] {
    const batch: SignedNodeEvent[] = [];
    let bytes = 0;
    for (const { event, disclosures, signature } of this.#pending.slice(0, MAX_RELAYED_EVENTS)) {
      bytes +=
        Buffer.byteLength(event) +
        Buffer.byteLength(JSON.stringify(disclosures)) +
        signature.length;
      if (batch.length > 0 && bytes > MAX_RELAYED_BYTES) break;
      batch.push({ event, disclosures, signature });
    }
    return batch;
  }

  /** The log has all up to this one. */
  settle(pseq: number): void {
    this.#pending = this.#pending.filter((event) => event.pseq > pseq);
    this.#head = { ...this.#head, settledPseq: Math.max(pseq, this.#head.settledPseq) };
    replaceFileNow(this.#headFile, JSON.stringify(this.#head), 0o600);
    if (this.#pending.length > 0) return;
    ftruncateSync(this.#fd, 0);
    this.#bytes = 0;
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #sign({ pseq, event, disclosures }: ComposedEvent): Pending {
    const bytes = Buffer.from(`${NODE_EVENT_LABEL}${event}`, "utf8");
    const signature = sign("sha256", bytes, {
      key: this.#keyPem,
      dsaEncoding: "ieee-p1363",
    }).toString("base64");
    return { pseq, event, disclosures, signature };
  }
}

function readHead(file: string): Head {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Head;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const head = { boot: randomUUID(), settledPseq: 0 };
    replaceFileNow(file, JSON.stringify(head), 0o600);
    return head;
  }
}

/** Whole lines, and where they end. */
function readPending(content: Buffer): { events: Pending[]; bytes: number } {
  const bytes = content.lastIndexOf(0x0a) + 1;
  const lines = content.subarray(0, bytes).toString("utf8").split("\n").slice(0, -1);
  return { events: lines.map((line) => JSON.parse(line) as Pending), bytes };
}

function syncFolder(file: string): void {
  const fd = openSync(dirname(file), "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
