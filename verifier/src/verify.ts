/**
 * Verifies one export. Memory does not grow with the log: one bundle and one tile of each level are held at a time, and of the entries
 * only where each producer stands and which operations are open.
 */
import { ArchiveReader } from "./input/archive.ts";
import { base64, hex } from "./input/bytes.ts";
import type { CallsJudged } from "./calls/evaluate-calls.ts";
import { Completeness, type Findings } from "./completeness/completeness.ts";
import {
  Disclosures,
  MAX_DISCLOSURE_BYTES,
  MAX_DISCLOSURES_BYTES,
  readDisclosures,
} from "./disclosures/disclosures.ts";
import type { ErasureElsewhere } from "./disclosures/erasures.ts";
import type { ProofReport } from "./event-proof.ts";
import { evaluateSignature } from "./signatures/evaluate-signature.ts";
import { keptCheckpoint, KnownHeads, type KnownHead } from "./tree/known.ts";
import { Integrity } from "./tree/integrity.ts";
import type { Leaf } from "./leaf/leaf.ts";
import { type Binaries, lacksStarts } from "./completeness/measured.ts";
import { type Checkpoint, MAX_NOTE_BYTES, parseCheckpoint, Refused } from "./input/note.ts";
import type { Platform } from "./platform/platform.ts";
import { parsePolicy, type Policy } from "./signatures/policy.ts";
import { Population } from "./sample/population.ts";
import { readLeaf } from "./leaf/read-leaf.ts";
import type { Releases } from "./completeness/releases.ts";
import { draw, isKept, type Sample } from "./sample/sample.ts";
import { type ShardsBefore, shardsBefore } from "./tree/shards-before.ts";
import type { Downtime } from "./completeness/timeline.ts";
import { disclosuresOf, type ExpectedFile } from "./tree/tree.ts";
import { fail, notChecked, nothingChecked, type Verdict, type Verdicts } from "./verdicts.ts";
import { type Lapse, Witnessed } from "./signatures/witnessed.ts";

/** Hourly ones of two years and more; a shard is one. */
const MAX_KEPT_CHECKPOINTS = 20_000;
/** A sample's population is held, in a byte or two for each; a narrower filter is asked for above it. */
const MAX_POPULATION = 10_000_000;
/** Releases that this one does not know may have types of their own; those beyond are not counted. */
const MAX_TYPES = 1_000;

export type Report = {
  verdicts: Verdicts;
  /** Why the input was refused; null when it was read to its end. */
  refused: string | null;
  bundleBytes: number;
  policySha256: string | null;
  checkpoint: { origin: string; size: number; root: string } | null;
  entriesRead: number;
  /** Entries whose set of schemas this release does not know: of these the envelope alone was checked. */
  underOtherSchemas: number;
  /** auditd's time of the first and last entry. */
  from: string | null;
  to: string | null;
  /** Entries by type, in order of the type's name; of at most a thousand types. */
  types: Record<string, number>;
  findings: Findings | null;
  /** What the appliance started, beside the vendor's releases. */
  binaries: Binaries;
  /** Stretches without the policy's quorum of witnesses that are too long; null where none was asked for. */
  lapses: readonly Lapse[] | null;
  /** Entry of the export that carries the auditor's nonce: the log is no older than that. Undefined: no nonce was given. */
  freshness?: { entry: number; time: string } | null;
  sample?: { filter: string; population: number; entries: number[] };
  /** Of an export of model calls that was given beside it. */
  calls?: CallsJudged;
};

export type VerifyOptions = {
  bundle: AsyncIterable<Uint8Array>;
  policy: Uint8Array | null;
  platform: Platform;
  known?: readonly KnownHead[];
  /** Entries of other shards that erased values of this one, each from a proof of its own. */
  erasures?: readonly ErasureElsewhere[];
  /** Of the vendor: measured starts are compared with them. */
  releases?: Releases;
  downtime?: readonly Downtime[] | null;
  /** 32 bytes that the auditor gave for this export. */
  nonce?: Uint8Array;
  sample?: Sample;
  /** Sees each entry as it is read: it is sound only where INTEGRITY passes in the end. @throws {@link Refused} */
  watch?: (leaf: Leaf, index: number) => void;
  onProgress?: (entries: number, size: number) => void;
};

/** Judges; does not throw for anything that the input holds. */
export async function verify(options: VerifyOptions): Promise<Report> {
  const run = new Verification(options);
  await run.read();
  return run.report;
}

/** The auditor gave something that nothing in the log can be compared with: a nonce that no export carries, a release while no start was measured. */
export function lacksCounterpart(report: Report | ProofReport): boolean {
  return "binaries" in report && (report.freshness === null || lacksStarts(report.binaries));
}

class Verification {
  readonly report: Report;
  readonly #options: VerifyOptions;
  readonly #platform: Platform;
  readonly #reader: ArchiveReader;
  readonly #integrity: Integrity;
  readonly #completeness: Completeness;
  readonly #witnessed = new Witnessed();
  readonly #nonce: string | null;
  readonly #population = new Population();
  /** Entries by type. */
  readonly #types = new Map<string, number>();
  #known!: KnownHeads;
  #disclosures!: Disclosures;
  #before: ShardsBefore | null = null;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#platform = options.platform;
    this.#reader = new ArchiveReader(options.bundle);
    this.#integrity = new Integrity(this.#reader, options.platform, {
      begin: (file) => this.#readDisclosures(file),
      entry: (bundle, from, to, index) => this.#evaluateEntry(bundle, from, to, index),
      added: () => this.#grown(),
      end: (count) => this.#endBundle(count),
    });
    this.#completeness = new Completeness(options.platform, options.releases ?? null);
    this.#nonce = options.nonce === undefined ? null : hex(options.nonce);
    this.report = {
      verdicts: nothingChecked("the input was refused before"),
      refused: null,
      bundleBytes: 0,
      policySha256: options.policy === null ? null : hex(options.platform.sha256(options.policy)),
      checkpoint: null,
      entriesRead: 0,
      underOtherSchemas: 0,
      from: null,
      to: null,
      types: {},
      findings: null,
      binaries: this.#completeness.measured.binaries,
      lapses: null,
      ...(options.nonce === undefined ? {} : { freshness: null }),
    };
  }

  async read(): Promise<void> {
    const { report } = this;
    const { verdicts } = report;
    try {
      const { policy, known = [], erasures = [] } = this.#options;
      const trusted = policy === null ? null : parsePolicy(policy, this.#platform);
      const checkpoint = parseCheckpoint(
        await this.#reader.member("checkpoint", MAX_NOTE_BYTES),
        "the checkpoint",
      );
      report.checkpoint = {
        origin: checkpoint.origin,
        size: checkpoint.size,
        root: base64(checkpoint.root),
      };
      this.#known = new KnownHeads(checkpoint.origin, checkpoint.size, known);
      this.#disclosures = new Disclosures(this.#platform, checkpoint.origin, erasures);
      verdicts.SIGNATURE =
        trusted === null
          ? selfAsserted()
          : await evaluateSignature(checkpoint, trusted, this.#platform);
      const kept = await this.#readKept(checkpoint, trusted);
      if (trusted !== null) await this.#witnessed.add(checkpoint, trusted, this.#platform);
      this.#known.note(this.#integrity.tree);
      verdicts.INTEGRITY = await this.#integrity.verdict(checkpoint);
      await this.#reader.end();
      this.#conclude(checkpoint, trusted, kept);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      report.refused = error.message;
      if (verdicts.INTEGRITY.verdict !== "FAIL")
        verdicts.INTEGRITY = fail(report.entriesRead, "the export could not be read to its end");
    } finally {
      await this.#reader.close();
    }
    report.bundleBytes = this.#reader.bytesRead;
    report.types = Object.fromEntries([...this.#types].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Hourly checkpoints: each must be signed as the newest one is. */
  async #readKept(checkpoint: Checkpoint, trusted: Policy | null): Promise<Verdict | null> {
    let fault: Verdict | null = null;
    let previous = 0;
    for (let count = 0; ; count++) {
      const name = await this.#reader.peek();
      if (!name.startsWith("checkpoints/")) return fault;
      if (count === MAX_KEPT_CHECKPOINTS) throw new Refused("the archive has too many checkpoints");
      const kept = keptCheckpoint(await this.#reader.member(name, MAX_NOTE_BYTES), name);
      if (
        kept.origin !== checkpoint.origin ||
        kept.size <= previous ||
        kept.size >= checkpoint.size
      )
        throw new Refused(`${name} is of another log, or out of order`);
      previous = kept.size;
      this.#known.addOwn(kept);
      if (trusted === null) continue;
      const signed = await evaluateSignature(kept, trusted, this.#platform);
      if (signed.verdict === "FAIL") fault ??= fail(kept.size, `${name}: ${signed.reason}`);
      await this.#witnessed.add(kept, trusted, this.#platform);
    }
  }

  async #readDisclosures(file: ExpectedFile): Promise<void> {
    const name = disclosuresOf(file);
    if ((await this.#reader.peek()) !== name) return this.#disclosures.begin(null);
    const lines = this.#reader.lines(name, MAX_DISCLOSURES_BYTES, MAX_DISCLOSURE_BYTES);
    this.#disclosures.begin(await readDisclosures(lines, name, this.#platform));
  }

  #evaluateEntry(bundle: Uint8Array, from: number, to: number, index: number): string | null {
    const read = readLeaf(bundle, from, to);
    if ("fault" in read) return `the entry is ${read.fault}`;
    return this.#note(read.leaf, read.isForeign, index) ? "the log's time goes back" : null;
  }

  #grown(): void {
    const { tree } = this.#integrity;
    this.#known.note(tree);
    this.#witnessed.note(tree, this.#completeness.timeline);
    this.report.entriesRead = tree.size;
  }

  #endBundle(count: number): void {
    this.#disclosures.endBundle(count);
    this.#options.onProgress?.(count, this.report.checkpoint!.size);
  }

  /** @returns whether the log's time goes back here */
  #note(leaf: Leaf, isForeign: boolean, index: number): boolean {
    const { report } = this;
    const { type, t_log } = leaf;
    const ofType = this.#types.get(type) ?? 0;
    if (ofType > 0 || this.#types.size < MAX_TYPES) this.#types.set(type, ofType + 1);
    if (isForeign) report.underOtherSchemas += 1;
    const goesBack = report.to !== null && t_log < report.to;
    report.from ??= t_log;
    report.to = t_log;
    this.#completeness.note(leaf, index);
    this.#disclosures.note(leaf, index);
    const { detail = {} } = leaf;
    if (index === 0 && type === "audit.shard.open")
      this.#before = shardsBefore(report.checkpoint!.origin, detail);
    if (this.#nonce !== null && type === "audit.export" && detail["nonce"] === this.#nonce)
      report.freshness = { entry: index, time: t_log };
    const { sample, watch } = this.#options;
    watch?.(leaf, index);
    if (sample !== undefined && isKept(leaf, sample.filter)) this.#keep(index);
    return goesBack;
  }

  #keep(index: number): void {
    if (this.#population.size === MAX_POPULATION)
      throw new Refused(`more than ${MAX_POPULATION} entries are kept by the filter; narrow it`);
    this.#population.add(index);
  }

  /** What can be said once everything was read. A log whose entries are not sound says nothing about itself. */
  #conclude(checkpoint: Checkpoint, trusted: Policy | null, kept: Verdict | null): void {
    const { verdicts } = this.report;
    const { size } = checkpoint;
    const { verdict, findings } = this.#completeness.atEnd(this.#options.downtime ?? null);
    this.report.findings = findings;
    this.report.binaries = this.#completeness.measured.binaries;
    verdicts["APPEND-ONLY"] = this.#known.verdict(this.#before);
    if (kept !== null && verdicts.SIGNATURE.verdict === "PASS") verdicts.SIGNATURE = kept;
    verdicts.WITNESSED =
      trusted === null
        ? { verdict: "SELF-ASSERTED", reason: "no policy was given (--policy FILE)" }
        : this.#witnessed.verdict(trusted, size, this.#completeness.timeline);
    if (trusted !== null && trusted.quorum !== "none")
      this.report.lapses = this.#witnessed.lapses(size, this.#completeness.timeline);
    const unsound = notChecked("the entries are not sound (INTEGRITY)");
    const isSound = verdicts.INTEGRITY.verdict === "PASS";
    verdicts.COMPLETENESS = isSound ? verdict : unsound;
    verdicts.DISCLOSURES = isSound ? this.#disclosures.verdict() : unsound;
    const { sample, nonce = new Uint8Array(0) } = this.#options;
    if (sample !== undefined && isSound)
      this.report.sample = {
        filter: sample.filterText,
        population: this.#population.size,
        entries: draw(this.#population, sample.count, nonce, checkpoint.root, this.#platform),
      };
  }
}

function selfAsserted(): Verdict {
  return {
    verdict: "SELF-ASSERTED",
    reason:
      "no policy was given (--policy FILE), so no key is known that did not come with the log",
  };
}
