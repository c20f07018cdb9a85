/** DISCLOSURES: what was opened opens the commitments in the entries, and what is marked erased was erased on record. */
import { readCanonical } from "../leaf/canonical.ts";
import { concat, fromHex, hex, textOf, utf8 } from "../input/bytes.ts";
import { type ErasureElsewhere, type Stated, statedBy } from "./erasures.ts";
import { commitmentsOf, type Leaf } from "../leaf/leaf.ts";
import { Marks } from "./marks.ts";
import { Refused } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";
import { StatedErasures } from "./stated-erasures.ts";
import { fail, notChecked, pass, type Verdict } from "../verdicts.ts";

/** 256 entries, at most 32 commitments each, values of at most 8 KiB, escaped. */
export const MAX_DISCLOSURES_BYTES = 134_217_728;
export const MAX_DISCLOSURE_BYTES = 65_536;
const MAX_LINES = 8_192;
const MAX_FIELD = 64;
const MAX_ERASURES = 100_000;
const HEX_32 = /^[0-9a-f]{64}$/;
const MAX_ERASED_BY = 10_000;
const PREFIX = utf8("sov-pii-v1\0");

/**
 * What is kept of a line until its entry is read. `opens`: its value opens its commitment; `held`: what is held of that value, by who wants it;
 * `erased`: the entry that says so, and its shard.
 */
export type Disclosure<Held = never> = { index: number; field: string; commitment: string } & (
  | { opens: boolean; held?: Held }
  | { erased: { index: number; origin: string } }
);

/**
 * @param hold what is to be held of a value; without it nothing is
 * @throws {@link Refused} for lines of another form, not in order of index and field, or more than entries can have commitments
 */
export async function readDisclosures<Held = never>(
  lines: AsyncIterable<Uint8Array>,
  name: string,
  platform: Platform,
  hold?: (field: string, value: string) => Held,
): Promise<Disclosure<Held>[]> {
  const disclosures: Disclosure<Held>[] = [];
  for await (const line of lines) {
    const disclosure = parseLine(line, name, platform, hold);
    const before = disclosures.at(-1);
    if (before !== undefined && orderOf(before) >= orderOf(disclosure))
      throw new Refused(`${name} is not in order`);
    if (disclosures.push(disclosure) > MAX_LINES)
      throw new Refused(`${name} discloses more than its entries can commit to`);
  }
  return disclosures;
}

function parseLine<Held>(
  bytes: Uint8Array,
  name: string,
  { sha256 }: Platform,
  hold: ((field: string, value: string) => Held) | undefined,
): Disclosure<Held> {
  const text = textOf(bytes);
  if (text === null) throw new Refused(`${name} is no UTF-8 text`);
  const read = readCanonical(text);
  const line = "fault" in read ? null : read.value;
  if (typeof line !== "object" || line === null)
    throw new Refused(`${name} has a line that is not canonical`);
  const { commitment, field, index, salt, value, erased } = line as Record<string, unknown>;
  const isOpened =
    typeof salt === "string" &&
    HEX_32.test(salt) &&
    typeof value === "string" &&
    Object.keys(line).length === 5;
  const isErased = namesEntry(erased) && Object.keys(line).length === 4;
  const isNamed =
    typeof field === "string" && field.length <= MAX_FIELD && Number.isSafeInteger(index);
  if (
    !isNamed ||
    typeof commitment !== "string" ||
    !HEX_32.test(commitment) ||
    (!isOpened && !isErased)
  )
    throw new Refused(`${name} has a line that discloses nothing`);
  const named = { index: Number(index), field, commitment };
  if (!isOpened) return { ...named, erased: erased as { index: number; origin: string } };
  const opened = sha256(concat(PREFIX, utf8(`${field}\0`), fromHex(salt), utf8(value)));
  const opens = hex(opened) === commitment;
  return opens && hold !== undefined
    ? { ...named, opens, held: hold(field, value) }
    : { ...named, opens };
}

function namesEntry(erased: unknown): boolean {
  if (typeof erased !== "object" || erased === null) return false;
  const { index, origin } = erased as Record<string, unknown>;
  return (
    Number.isSafeInteger(index) &&
    typeof origin === "string" &&
    origin.length <= 255 &&
    Object.keys(erased).length === 2
  );
}

function orderOf({ index, field }: Pick<Disclosure, "index" | "field">): string {
  return `${String(index).padStart(16, "0")} ${field}`;
}

export class Disclosures {
  readonly #platform: Platform;
  readonly #origin: string;
  readonly #elsewhere: readonly ErasureElsewhere[];
  /** By shard and entry of the erasure: the tree over what is marked as its. */
  readonly #erased = new Map<string, Map<number, Marks>>();
  #erasedBy = 0;
  readonly #stated = new StatedErasures();
  #lines: readonly Disclosure[] = [];
  #at = 0;
  #fault: Verdict | null = null;
  #hasMembers = false;
  readonly #counts = { match: 0, erased: 0, missing: 0 };

  /**
   * @param origin of the log that is judged
   * @param elsewhere erasures that stand in other shards, each from a proof of its own
   */
  constructor(platform: Platform, origin: string, elsewhere: readonly ErasureElsewhere[]) {
    this.#platform = platform;
    this.#origin = origin;
    this.#elsewhere = elsewhere;
  }

  /** What the member before an entry bundle says of its entries. */
  begin(lines: readonly Disclosure[] | null): void {
    this.#lines = lines ?? [];
    this.#at = 0;
    this.#hasMembers ||= lines !== null;
  }

  note(leaf: Leaf, index: number): void {
    this.#noteErasure(leaf, index);
    const commitments = commitmentsOf(leaf);
    for (; this.#at < this.#lines.length && this.#lines[this.#at]!.index <= index; this.#at++) {
      const line = this.#lines[this.#at]!;
      if (line.index !== index || commitments?.get(line.field) !== line.commitment)
        this.#fault ??= fail(
          line.index,
          `a disclosure of ${line.field} for which the entry has no such commitment`,
        );
      else this.#judge(line);
      commitments?.delete(line.field);
    }
    this.#counts.missing += commitments?.size ?? 0;
  }

  /** @param end one past the last entry of the bundle */
  endBundle(end: number): void {
    if (this.#at < this.#lines.length)
      this.#fault ??= fail(end - 1, "a disclosure for an entry that is not in its bundle");
  }

  verdict(): Verdict {
    if (!this.#hasMembers) return notChecked("the export discloses nothing");
    let unproven: string | null = null;
    for (const [origin, entries] of this.#erased)
      for (const [index, marks] of entries) {
        const stated = this.#statedOf(origin, index);
        if (stated === "unproven") unproven ??= `entry ${index} of ${origin}`;
        else this.#compare(origin === this.#origin ? index : 0, marks, stated);
      }
    const { match, erased, missing } = this.#counts;
    if (this.#fault !== null) return this.#fault;
    if (unproven !== null)
      return notChecked(
        `values are marked as erased by ${unproven}, for which no proof was given that holds (--erasure FILE)`,
      );
    return pass(
      `${match} values open their commitments, ${erased} are ERASED on record, ${missing} are not disclosed`,
    );
  }

  /** What the entry says of this log; null when it says nothing of it. */
  #statedOf(origin: string, index: number): Stated | null | "unproven" {
    if (origin === this.#origin) return this.#stated.of(index);
    const found = this.#elsewhere.find(
      (one) => one.origin === origin && one.index === index && one.isProven,
    );
    return found === undefined ? "unproven" : (found.stated.get(this.#origin) ?? null);
  }

  /** @param at the entry of this log; one of another shard is none of its, and the fault is told at its first */
  #compare(at: number, marks: Marks, stated: Stated | null): void {
    if (stated === null)
      this.#fault ??= fail(at, "values are marked as erased by an entry that is no erasure");
    else if (stated.count !== marks.size || stated.root !== marks.root())
      this.#fault ??= fail(
        at,
        `the erasure states ${stated.count} commitments; ${marks.size} are marked as its, or others`,
      );
  }

  #noteErasure(leaf: Leaf, index: number): void {
    const stated = statedBy(leaf);
    if (stated === null) return;
    if (this.#stated.size === MAX_ERASURES)
      throw new Refused("the log has more erasures than can be judged");
    this.#stated.add(index, stated.get(this.#origin) ?? null);
  }

  #judge(line: Disclosure): void {
    const { index, field, commitment } = line;
    if ("erased" in line) {
      this.#marksOf(line.erased).add(
        concat(Uint8Array.of(0), utf8(`${index}\n${field}\n${commitment}`)),
      );
      this.#counts.erased += 1;
      return;
    }
    if (line.opens) this.#counts.match += 1;
    else this.#fault ??= fail(index, `the value of ${field} does not open its commitment`);
  }

  #marksOf({ origin, index }: { origin: string; index: number }): Marks {
    const entries = this.#erased.get(origin) ?? new Map<number, Marks>();
    const known = entries.get(index);
    if (known !== undefined) return known;
    if (this.#erasedBy === MAX_ERASED_BY)
      throw new Refused("values are marked as erased by more entries than can be judged");
    const marks = new Marks(this.#platform);
    this.#erasedBy += 1;
    this.#erased.set(origin, entries.set(index, marks));
    return marks;
  }
}
