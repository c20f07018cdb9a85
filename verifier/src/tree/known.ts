/**
 * APPEND-ONLY: every checkpoint that is known, by the auditor or from the export itself, is the head of a beginning of this very tree; and what is known of
 * earlier shards is no more than this one says of them.
 */
import { memberOf, readBoundedJson } from "../input/bounded-json.ts";
import { base64, equal, fromBase64, fromLatin1, latin1, textOf, utf8 } from "../input/bytes.ts";
import { type Checkpoint, parseCheckpoint, parseHead, Refused } from "../input/note.ts";
import { compareBefore, type ShardsBefore } from "./shards-before.ts";
import type { VerifierTree } from "./tree.ts";
import { fail, notChecked, pass, type Verdict } from "../verdicts.ts";

/** `root`: its bytes as characters, which take a fifth of what an array of them does. */
export type KnownHead = { origin: string; size: number; root: string };

const MAX_KNOWN_BYTES = 67_108_864;
/** With all that a report may list: see MAX_STRETCHES of timeline.ts, MAX_LAPSES of witnessed.ts. */
const MAX_REPORT_BYTES = 3_145_728;
/** Origin, size or root; signatures are passed over unread. */
const MAX_LINE_BYTES = 512;
/** Hourly ones of more than five years. */
const MAX_KNOWN = 50_000;

/**
 * What an auditor kept: signed notes one after the other, the text of printed checkpoints (three lines, with or without signatures), or an
 * earlier report of this verifier as JSON.
 * @throws {@link Refused}
 */
export function parseKnown(bytes: Uint8Array): KnownHead[] {
  if (bytes.length > MAX_KNOWN_BYTES) throw new Refused("the known checkpoints are too long");
  if (bytes.find((byte) => !WHITE_SPACE.has(byte)) === OPENING_BRACE) return [headOfReport(bytes)];
  const heads: KnownHead[] = [];
  let lines: string[] = [];
  for (const line of linesOf(bytes)) {
    if (line.length === 0 || line[0] === HASH || startsWith(line, SIGNATURE_START)) continue;
    const text = line.length > MAX_LINE_BYTES ? null : textOf(line);
    if (text === null)
      throw new Refused("the known checkpoints are no text, or have a line that is too long");
    if (lines.push(text) < 3) continue;
    const { origin, size, root } = parseHead(`${lines.join("\n")}\n`, "a known checkpoint");
    // Most are of one log: its name is held once.
    heads.push({
      origin: origin === heads.at(-1)?.origin ? heads.at(-1)!.origin : origin,
      size,
      root: latin1(root),
    });
    lines = [];
    if (heads.length > MAX_KNOWN) throw new Refused("there are too many known checkpoints");
  }
  if (lines.length > 0) throw new Refused("a known checkpoint has not exactly three lines");
  return heads;
}

const OPENING_BRACE = 0x7b;
const HASH = 0x23;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, LINE_FEED, CARRIAGE_RETURN]);
const SIGNATURE_START = utf8("— ");

/** Views of the bytes: years of checkpoints with their signatures never become one text. */
function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, from);
    const end = found === -1 ? bytes.length : found;
    yield bytes.subarray(from, end > from && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
    from = end + 1;
  }
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return equal(bytes.subarray(0, start.length), start);
}

function headOfReport(bytes: Uint8Array): KnownHead {
  const head = memberOf(readBoundedJson(bytes, MAX_REPORT_BYTES, "the known report"), "checkpoint");
  const [origin, size, root] = [
    memberOf(head, "origin"),
    memberOf(head, "size"),
    memberOf(head, "root"),
  ];
  const hash = typeof root === "string" ? fromBase64(root) : null;
  if (
    typeof origin !== "string" ||
    !Number.isSafeInteger(size) ||
    Number(size) < 0 ||
    hash?.length !== 32
  )
    throw new Refused("the known report has no checkpoint");
  return { origin, size: Number(size), root: latin1(hash) };
}

/** The checkpoint of a kept member: its name must say its size. @throws {@link Refused} */
export function keptCheckpoint(bytes: Uint8Array, name: string) {
  const checkpoint = parseCheckpoint(bytes, name);
  if (name !== `checkpoints/${checkpoint.size}`)
    throw new Refused(`${name} is a checkpoint of ${checkpoint.size} entries`);
  return checkpoint;
}

/** `isSame`: whether the tree had this root at this size; null before it was reached. */
type Watched = { size: number; root: string; isAuditors: boolean; isSame: boolean | null };

/** Compares heads as the tree grows past them; holds the heads alone. */
export class KnownHeads {
  readonly #origin: string;
  readonly #size: number;
  readonly #watched: Watched[] = [];
  readonly #others: KnownHead[] = [];
  #next = 0;
  #isSorted = false;

  constructor(origin: string, size: number, auditors: readonly KnownHead[]) {
    this.#origin = origin;
    this.#size = size;
    for (const head of auditors)
      if (head.origin === origin) this.#watch(head, true);
      else this.#others.push(head);
  }

  /** Heads that came with the export; before the first entry is read. */
  addOwn({ origin, size, root }: Pick<Checkpoint, "origin" | "size" | "root">): void {
    if (origin === this.#origin) this.#watch({ size, root: latin1(root) }, false);
  }

  /** The tree grew by one entry, or is still empty. */
  note(tree: VerifierTree): void {
    if (!this.#isSorted) this.#watched.sort((a, b) => a.size - b.size);
    this.#isSorted = true;
    let root: string | null = null;
    for (
      ;
      this.#next < this.#watched.length && this.#watched[this.#next]!.size === tree.size;
      this.#next++
    ) {
      root ??= latin1(tree.root());
      const watched = this.#watched[this.#next]!;
      watched.isSame = root === watched.root;
    }
  }

  /** Without the signatures that it may have come with. */
  #watch({ size, root }: Omit<KnownHead, "origin">, isAuditors: boolean): void {
    this.#watched.push({ size, root, isAuditors, isSame: null });
  }

  /** @param before what the first entry says of earlier shards */
  verdict(before: ShardsBefore | null): Verdict {
    let agreed = 0;
    for (const { size, isSame, isAuditors } of this.#watched) {
      const whose = isAuditors
        ? "the checkpoint that you kept"
        : "a checkpoint that the export carries";
      if (isSame === null)
        return fail(
          this.#size,
          `${whose} has ${size} entries, the log has ${this.#size}: it is an older state, or a part`,
        );
      if (!isSame)
        return fail(
          agreed,
          `the log is not what it was at ${size} entries by ${whose}; what differs lies between entries ${agreed} and ${size - 1}`,
        );
      agreed = size;
    }
    let unknown = 0;
    for (const head of this.#others) {
      const compared = before === null ? "unknown" : compareBefore(before, head);
      if (typeof compared === "object") return fail(0, compared.fault);
      if (compared === "unknown") unknown += 1;
    }
    const rest =
      unknown === 0
        ? ""
        : `; NOT CHECKED: ${unknown} of other shards, with which this export can't be compared`;
    const kept = this.#watched.filter(({ isAuditors }) => isAuditors);
    const largest = kept.at(-1);
    if (largest === undefined)
      return notChecked(
        `no checkpoint of this log was given that you had without the appliance (--known FILE)${rest}`,
      );
    return pass(
      `${kept.length} known checkpoints are beginnings of this log; the largest has ${largest.size} entries, root ${base64(fromLatin1(largest.root))}${rest}`,
    );
  }
}
