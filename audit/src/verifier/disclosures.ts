/** DISCLOSURES: what was opened opens the commitments in the entries, and what is marked erased was erased on record. */
import { canonicalFault } from "./canonical.ts";
import { concat, fromHex, hex, textOf, utf8 } from "./bytes.ts";
import { commitmentsOf, type Leaf } from "./leaf.ts";
import { Refused } from "./note.ts";
import type { Platform } from "./platform.ts";
import { VerifierTree } from "./tree.ts";
import { fail, notChecked, pass, type Verdict } from "./verdicts.ts";

/** 256 entries, at most 32 commitments each, values of at most 8 KiB, escaped. */
export const MAX_DISCLOSURES_BYTES = 134_217_728;
const MAX_ERASURES = 100_000;
const HEX_32 = /^[0-9a-f]{64}$/;
const PREFIX = utf8("sov-pii-v1\0");

type Line = { index: number; field: string; commitment: string } & ({ salt: string; value: string } | { erased: number });
type Stated = { count: number; root: string };

/** @throws {@link Refused} for lines of another form, or not in order of index and field */
export function parseDisclosures(bytes: Uint8Array, name: string): Line[] {
  const text = textOf(bytes);
  if (text === null || (text !== "" && !text.endsWith("\n"))) throw new Refused(`${name} is no text of whole lines`);
  const lines = text
    .split("\n")
    .slice(0, -1)
    .map((line) => parseLine(line, name));
  for (let at = 1; at < lines.length; at++)
    if (orderOf(lines[at - 1]!) >= orderOf(lines[at]!)) throw new Refused(`${name} is not in order`);
  return lines;
}

function parseLine(text: string, name: string): Line {
  const fault = canonicalFault(text);
  const line: unknown = fault === null ? JSON.parse(text) : null;
  if (typeof line !== "object" || line === null) throw new Refused(`${name} has a line that is not canonical`);
  const { commitment, field, index, salt, value, erased } = line as Record<string, unknown>;
  const isOpened = typeof salt === "string" && HEX_32.test(salt) && typeof value === "string" && Object.keys(line).length === 5;
  const isErased = Number.isSafeInteger(erased) && Object.keys(line).length === 4;
  const isNamed =
    typeof field === "string" && typeof commitment === "string" && HEX_32.test(commitment) && Number.isSafeInteger(index);
  if (!isNamed || (!isOpened && !isErased)) throw new Refused(`${name} has a line that discloses nothing`);
  return line as Line;
}

function orderOf({ index, field }: Line): string {
  return `${String(index).padStart(16, "0")} ${field}`;
}

export class Disclosures {
  readonly #platform: Platform;
  /** By the entry of the erasure: the tree over what is marked as its. */
  readonly #erased = new Map<number, VerifierTree>();
  readonly #stated = new Map<number, Stated>();
  #lines: Line[] = [];
  #at = 0;
  #fault: Verdict | null = null;
  #hasMembers = false;
  readonly #counts = { match: 0, erased: 0, missing: 0 };

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** What the member before an entry bundle says of its entries. */
  begin(lines: readonly Line[] | null): void {
    this.#lines = lines === null ? [] : [...lines];
    this.#at = 0;
    this.#hasMembers ||= lines !== null;
  }

  note(leaf: Leaf, index: number): void {
    this.#noteErasure(leaf, index);
    const commitments = commitmentsOf(leaf);
    for (; this.#at < this.#lines.length && this.#lines[this.#at]!.index <= index; this.#at++) {
      const line = this.#lines[this.#at]!;
      if (line.index !== index || commitments.get(line.field) !== line.commitment)
        this.#fault ??= fail(line.index, `a disclosure of ${line.field} for which the entry has no such commitment`);
      else this.#judge(line);
      commitments.delete(line.field);
    }
    this.#counts.missing += commitments.size;
  }

  /** @param end one past the last entry of the bundle */
  endBundle(end: number): void {
    if (this.#at < this.#lines.length) this.#fault ??= fail(end - 1, "a disclosure for an entry that is not in its bundle");
  }

  verdict(): Verdict {
    if (!this.#hasMembers) return notChecked("the export discloses nothing");
    for (const [index, tree] of this.#erased) {
      const stated = this.#stated.get(index);
      if (stated === undefined) this.#fault ??= fail(index, "values are marked as erased by an entry that is no erasure");
      else if (stated.count !== tree.size || stated.root !== hex(tree.root()))
        this.#fault ??= fail(index, `the erasure states ${stated.count} commitments; ${tree.size} are marked as its, or others`);
    }
    const { match, erased, missing } = this.#counts;
    return (
      this.#fault ?? pass(`${match} values open their commitments, ${erased} are ERASED on record, ${missing} are not disclosed`)
    );
  }

  #noteErasure({ type, phase, detail = {} }: Leaf, index: number): void {
    if (type !== "privacy.erasure" || phase !== "completed") return;
    if (this.#stated.size === MAX_ERASURES) throw new Refused("the log has more erasures than can be judged");
    this.#stated.set(index, { count: Number(detail["commitments_count"]), root: String(detail["commitments_root"]) });
  }

  #judge(line: Line): void {
    const { index, field, commitment } = line;
    if ("erased" in line) {
      const tree = this.#erased.get(line.erased) ?? new VerifierTree(this.#platform.sha256);
      this.#erased.set(line.erased, tree);
      tree.addLeaf(this.#platform.sha256(concat(Uint8Array.of(0), utf8(`${index}\n${field}\n${commitment}`))));
      this.#counts.erased += 1;
      return;
    }
    const opened = hex(this.#platform.sha256(concat(PREFIX, utf8(`${field}\0`), fromHex(line.salt), utf8(line.value))));
    if (opened === commitment) this.#counts.match += 1;
    else this.#fault ??= fail(index, `the value of ${field} does not open its commitment`);
  }
}
