/** A log of a test's own making, honest or not: leaves as auditd writes them, an export as `exportLog` writes it. */
import { signedCheckpoint } from "@resontech/audit/testing/signed-checkpoint";
import { generateKeyPairSync } from "node:crypto";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { heartbeatOf } from "@resontech/auditd/decisions/heartbeat";
import { canonicalJson } from "@resontech/audit/format/event/canonical-json";
import { composeEvent } from "@resontech/audit/format/event/compose-event";
import { leafOf } from "@resontech/audit/format/event/leaf";
import { ustarMember } from "@resontech/audit/export/ustar";
import { parseCheckpoint, signatureOf } from "@resontech/audit/format/note/checkpoint";
import { encodeEntries } from "@resontech/audit/format/tree/entry-bundle";
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";
import {
  KEY_TYPE,
  noteSigner,
  type NoteSigner,
  verifierKey,
} from "@resontech/audit/format/note/note-key";
import { formatNote } from "@resontech/audit/format/note/signed-note";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import { type Report, verify, type VerifyOptions } from "../../src/verify.ts";

export const ORIGIN = "box.audit.acme/2026";
const START_MS = Date.parse("2026-03-01T08:00:00.000Z");

type Said = Pick<EventDraft, "type"> & Partial<Omit<EventDraft, "type">>;

export class MadeLog {
  readonly leaves: Buffer[] = [];
  readonly keys: NoteSigner[] = [
    noteSigner(ORIGIN, KEY_TYPE.ed25519, generateKeyPairSync("ed25519").privateKey),
    noteSigner(ORIGIN, KEY_TYPE.mlDsa44, generateKeyPairSync("ml-dsa-44").privateKey),
  ];
  witness: NoteSigner = noteSigner(
    "w.example/w1",
    KEY_TYPE.ed25519Cosignature,
    generateKeyPairSync("ed25519").privateKey,
  );
  nowMs = START_MS;
  #positions = new Map<string, { boot: string; pseq: number }>();
  #boots = 0;

  /** Opened, auditd running, producer `p` in its first life. */
  static begun(open: Record<string, unknown> = {}): MadeLog {
    const log = new MadeLog();
    const detail = {
      reason: "first",
      prev_origin: null,
      prev_size: 0,
      prev_root: null,
      seen_size: 0,
      seen_root: null,
      generation: 0,
      ...open,
    };
    log.#positions.set("auditd", { boot: "a-0", pseq: 0 });
    log.own({ type: "audit.shard.open", object: { kind: "log", id: "auditd" }, detail });
    log.own({
      type: "audit.producer.start",
      object: { kind: "producer", id: "auditd" },
      detail: { boot: "a-0", first_pseq: 1, prev_boot: null, prev_pseq: 0 },
    });
    log.start("p");
    return log;
  }

  /** Anything, as it stands: the tests that lie use it. */
  raw(prod: string, boot: string, pseq: number, said: Said): number {
    const draft: EventDraft = {
      phase: "fact",
      op: crypto.randomUUID(),
      actor: { sub: "usr-1", kind: "user" },
      object: { kind: "user", id: "usr-1" },
      ...said,
    };
    const { event } = composeEvent(draft, { boot, pseq, nowMs: this.nowMs });
    this.leaves.push(leafOf(Buffer.from(event, "utf8"), prod, new Date(this.nowMs).toISOString()));
    return this.leaves.length - 1;
  }

  say(said: Said, prod = "p"): number {
    const at = this.#positions.get(prod)!;
    at.pseq += 1;
    return this.raw(prod, at.boot, at.pseq, said);
  }

  own(said: Said): number {
    return this.say({ actor: { sub: "auditd", kind: "system" }, ...said }, "auditd");
  }

  /** A new life of a producer. */
  start(prod: string, changes: Record<string, unknown> = {}): void {
    const known = this.#positions.get(prod);
    const boot = `b-${++this.#boots}`;
    const detail = {
      boot,
      first_pseq: 1,
      prev_boot: known?.boot ?? null,
      prev_pseq: known?.pseq ?? 0,
      ...changes,
    };
    if (prod === "auditd") this.#positions.set(prod, { boot, pseq: 0 });
    this.own({ type: "audit.producer.start", object: { kind: "producer", id: prod }, detail });
    if (prod !== "auditd") this.#positions.set(prod, { boot, pseq: detail.first_pseq - 1 });
  }

  position(prod = "p"): { boot: string; pseq: number } {
    return this.#positions.get(prod)!;
  }

  /** @param away who has no connection */
  heartbeat(away: readonly string[] | null = null): void {
    const producers = [...this.#positions]
      .map(([prod, at]) => ({ prod, ...at }))
      .sort((a, b) => (a.prod < b.prod ? -1 : 1));
    const detail = heartbeatOf({ positions: () => producers, openCount: 0 }, away);
    this.own({ type: "audit.heartbeat", object: { kind: "log", id: "auditd" }, detail });
  }

  /** Minutes in which auditd runs. */
  run(minutes: number, away: readonly string[] | null = null): void {
    for (let minute = 0; minute < minutes; minute++) {
      this.nowMs += 60_000;
      this.heartbeat(away);
    }
  }

  key(): number {
    return this.say({ type: "key.list" });
  }

  requested(
    type: "job.cancel" | "job.submit" = "job.submit",
    op: string = crypto.randomUUID(),
  ): string {
    this.say({ type, op, phase: "requested", object: { kind: "job", id: "job-1" } });
    return op;
  }

  outcome(op: string, type: "job.cancel" | "job.submit" = "job.submit"): void {
    this.say({
      type,
      op,
      phase: "completed",
      outcome: { code: "ok" },
      object: { kind: "job", id: "job-1" },
    });
  }

  rootAt(size: number): Buffer {
    const frontier = new Frontier();
    for (const leaf of this.leaves.slice(0, size)) frontier.append(hashLeaf(leaf));
    return frontier.root();
  }

  checkpoint(
    size: number = this.leaves.length,
    options: { witnessed?: boolean; root?: Buffer } = {},
  ): string {
    const note = signedCheckpoint(
      { origin: ORIGIN, size, root: options.root ?? this.rootAt(size) },
      this.keys,
      this.nowMs,
    );
    if (options.witnessed !== true) return note;
    const checkpoint = parseCheckpoint(note)!;
    const line = signatureOf(checkpoint, this.witness, Math.floor(this.nowMs / 1_000));
    return formatNote({ text: checkpoint.text, signatures: [...checkpoint.signatures, line] });
  }

  policy(quorum: "none" | "w1" = "none"): Buffer {
    const witness = quorum === "none" ? "" : `witness w1 ${verifierKey(this.witness)}\n`;
    return Buffer.from(
      `${this.keys.map((key) => `log ${verifierKey(key)}\n`).join("")}${witness}quorum ${quorum}\n`,
    );
  }

  /** Of at most 256 leaves. */
  archive(options: { note?: string; kept?: string[]; disclosures?: object[] } = {}): Buffer {
    const width = this.leaves.length;
    const note = options.note ?? this.checkpoint();
    const lines = options.disclosures?.map((line) => `${canonicalJson(line, 2)}\n`).join("");
    return Buffer.concat([
      ustarMember("checkpoint", Buffer.from(note)),
      ...(options.kept ?? []).map((kept) =>
        ustarMember(`checkpoints/${parseCheckpoint(kept)!.size}`, Buffer.from(kept)),
      ),
      ...(lines === undefined
        ? []
        : [ustarMember(`disclosures/000.p/${width}`, Buffer.from(lines))]),
      ustarMember(`tile/entries/000.p/${width}`, encodeEntries(this.leaves)),
      ustarMember(`tile/0/000.p/${width}`, Buffer.concat(this.leaves.map(hashLeaf))),
      Buffer.alloc(1_024),
    ]);
  }

  judge(options: Partial<VerifyOptions> & { archive?: Buffer } = {}): Promise<Report> {
    const { archive = this.archive(), ...rest } = options;
    return verify({
      bundle: inChunks(archive),
      policy: this.policy(),
      platform: nodePlatform,
      ...rest,
    });
  }
}

async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 4_096)
    yield Buffer.from(bytes.subarray(at, at + 4_096));
}
