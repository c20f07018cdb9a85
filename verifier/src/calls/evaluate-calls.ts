/**
 * Compares an export of the journal of model calls with the log that was judged: each line leads by its proof to the root of its batch's entry, each batch
 * is there, and none of its lines or calls is missing. What is wrong first is named by its line in the file.
 */
import { concat, fromHex, hex, utf8 } from "../input/bytes.ts";
import { memberOf, readBoundedJson } from "../input/bounded-json.ts";
import { Refused } from "../input/note.ts";
import { evaluateInclusion } from "../event-proof.ts";
import type { Platform } from "../platform/platform.ts";
import { fail, notChecked, pass, type Verdict } from "../verdicts.ts";
import type { CalledBatch } from "./called-batches.ts";
import { type CallsHead, MAX_LINE_BYTES } from "./calls-head.ts";

/** A batch has 256 lines at most, or a few more. */
const MAX_PROOF = 16;
const HASH = /^[0-9a-f]{64}$/;

/** @property line of the file, from 1, where something is wrong; null elsewhere */
export type CallsJudged = CallsHead & {
  judged: Verdict;
  line: number | null;
  batches: number;
  lines: number;
  calls: number;
  /** Batches that the journal has no more. */
  gone: number;
};

type Current = CalledBatch & { isGone: boolean; shown: number; ofCalls: number; lastAt: number };

/** What is wrong, of which entry. */
class Wrong extends Error {
  readonly entry: number;

  constructor(entry: number, message: string) {
    super(message);
    this.entry = entry;
  }
}

export class CallsJudge {
  readonly #head: CallsHead;
  readonly #expected: readonly CalledBatch[];
  readonly #platform: Platform;
  readonly #counts = { batches: 0, lines: 0, calls: 0, gone: 0 };
  /** Batches whose entry does not name all deployments that were called: of these nobody can say that none is missing. */
  #unnamed = 0;
  #next = 0;
  #current: Current | null = null;

  constructor(head: CallsHead, expected: readonly CalledBatch[], platform: Platform) {
    this.#head = head;
    this.#expected = expected;
    this.#platform = platform;
  }

  /**
   * @param lines of the file behind its first one
   * @param logSize entries of the export that was judged
   */
  async judge(lines: AsyncIterable<Uint8Array>, logSize: number): Promise<CallsJudged> {
    let number = 1;
    try {
      for await (const line of lines) {
        number += 1;
        this.#take(line);
      }
      number += 1;
      this.#endBatch();
      const missing = this.#expected.slice(this.#next).find((batch) => this.#isNeeded(batch));
      if (missing !== undefined) throw new Wrong(missing.entry, "its batch of calls is missing");
    } catch (error) {
      if (!(error instanceof Wrong || error instanceof Refused)) throw error;
      const entry = error instanceof Wrong ? error.entry : (this.#current?.entry ?? 0);
      return this.#judged(fail(entry, `line ${number} of the calls: ${error.message}`), number);
    }
    return this.#judged(this.#verdict(logSize), null);
  }

  #judged(judged: Verdict, line: number | null): CallsJudged {
    return { ...this.#head, judged, line, ...this.#counts };
  }

  #verdict(logSize: number): Verdict {
    const { batches, lines, calls, gone } = this.#counts;
    const what = `${calls} calls in ${lines} lines of ${batches} batches lead to the roots in the log`;
    const open = [
      ...(gone > 0
        ? [
            `${gone} batches more are erased: the journal has them no more, and nothing can be said of their calls`,
          ]
        : []),
      ...(this.#head.size > logSize
        ? [
            `the export of the log ends at ${logSize} entries, and the calls go on to ${this.#head.size}: give an export that is not older`,
          ]
        : []),
      ...(this.#unnamed > 0
        ? [
            `${this.#unnamed} entries do not name every deployment that was called, so calls may be missing: export the calls of all deployments`,
          ]
        : []),
    ];
    if (open.length > 0) return notChecked([what, ...open].join("; "));
    return pass(`${what}, and none is missing`);
  }

  #take(bytes: Uint8Array): void {
    const record = readBoundedJson(bytes, MAX_LINE_BYTES, "it");
    const [kind, entry] = [memberOf(record, "kind"), memberOf(record, "entry")];
    if (!Number.isSafeInteger(entry)) throw new Refused("it names no entry of the log");
    if (kind === "batch") this.#begin(record, Number(entry));
    else if (kind === "line") this.#line(record, Number(entry));
    else throw new Refused("it is neither a batch nor a line of one");
  }

  #begin(record: unknown, entry: number): void {
    this.#endBatch();
    for (; (this.#expected[this.#next]?.entry ?? entry) < entry; this.#next += 1) {
      const passed = this.#expected[this.#next]!;
      if (this.#isNeeded(passed)) throw new Wrong(passed.entry, "its batch of calls is missing");
    }
    const expected = this.#expected[this.#next];
    if (expected?.entry !== entry)
      throw new Wrong(entry, "the log has no batch of calls of that time there");
    if (
      memberOf(record, "root") !== hex(expected.root) ||
      memberOf(record, "lines") !== expected.lines
    )
      throw new Wrong(entry, "the batch is not what the log says");
    this.#next += 1;
    const isGone = memberOf(record, "gone") === true;
    this.#current = { ...expected, isGone, shown: 0, ofCalls: 0, lastAt: -1 };
    this.#counts.batches += isGone ? 0 : 1;
    this.#counts.gone += isGone ? 1 : 0;
  }

  #line(record: unknown, entry: number): void {
    const batch = this.#current;
    const [at, text] = [memberOf(record, "at"), memberOf(record, "text")];
    const proof = memberOf(record, "proof");
    if (batch === null || batch.entry !== entry || batch.isGone)
      throw new Wrong(entry, "a line stands outside of its batch");
    if (
      typeof text !== "string" ||
      !Number.isSafeInteger(at) ||
      Number(at) <= batch.lastAt ||
      !Array.isArray(proof) ||
      proof.length > MAX_PROOF ||
      !proof.every((hash) => typeof hash === "string" && HASH.test(hash))
    )
      throw new Wrong(entry, "it has not the form of a line, or comes twice");
    const call = readBoundedJson(utf8(text), MAX_LINE_BYTES, "its text");
    const named = memberOf(call, "id");
    const { verdict } = evaluateInclusion(
      this.#platform.sha256(concat(Uint8Array.of(0), utf8(text))),
      Number(at),
      (proof as string[]).map(fromHex),
      { size: batch.lines, root: batch.root },
      this.#platform,
    );
    if (verdict !== "PASS")
      throw new Wrong(
        entry,
        `the call ${typeof named === "string" ? named : "without an id"} is not what the log says: its proof does not lead to the root`,
      );
    const { deployment } = this.#head;
    const isCall = memberOf(call, "kind") === "call";
    batch.lastAt = Number(at);
    batch.shown += 1;
    this.#counts.lines += 1;
    this.#counts.calls += isCall ? 1 : 0;
    if (isCall && (deployment === null || memberOf(call, "deployment") === deployment))
      batch.ofCalls += 1;
  }

  /** Whether something of the batch is missing. */
  #endBatch(): void {
    const batch = this.#current;
    this.#current = null;
    if (batch === null || batch.isGone) return;
    const { entry, shown, lines, ofCalls, calls } = batch;
    if (this.#head.deployment === null) {
      if (shown < lines) throw new Wrong(entry, `before it ${lines - shown} lines are missing`);
    } else if (calls === null) this.#unnamed += 1;
    else if (ofCalls !== calls)
      throw new Wrong(entry, `before it are ${ofCalls} calls, and the log has ${calls}`);
  }

  #isNeeded({ calls }: CalledBatch): boolean {
    return this.#head.deployment === null || calls === null || calls > 0;
  }
}
