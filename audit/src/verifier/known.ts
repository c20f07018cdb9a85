/** APPEND-ONLY: every checkpoint that is known, by the auditor or from the export itself, is the head of a beginning of this very tree. */
import { base64, equal, fromBase64, hex, textOf } from "./bytes.ts";
import { parseCheckpoint, parseHead, Refused } from "./note.ts";
import type { VerifierTree } from "./tree.ts";
import { fail, notChecked, pass, type Verdict } from "./verdicts.ts";

export type KnownHead = { origin: string; size: number; root: Uint8Array };

const MAX_KNOWN_BYTES = 67_108_864;
const MAX_KNOWN = 100_000;

/**
 * What an auditor kept: signed notes one after the other, the text of printed checkpoints (three lines, with or without signatures), or an
 * earlier report of this verifier as JSON.
 * @throws {@link Refused}
 */
export function parseKnown(bytes: Uint8Array): KnownHead[] {
  const text = bytes.length > MAX_KNOWN_BYTES ? null : textOf(bytes);
  if (text === null) throw new Refused("the known checkpoints are no text, or too long");
  if (text.trimStart().startsWith("{")) return [headOfReport(text)];
  const lines = text.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("— ") && !line.startsWith("#"));
  const heads: KnownHead[] = [];
  for (let at = 0; at < lines.length; at += 3)
    heads.push(parseHead(`${lines.slice(at, at + 3).join("\n")}\n`, "a known checkpoint"));
  if (heads.length > MAX_KNOWN) throw new Refused("there are too many known checkpoints");
  return heads;
}

function headOfReport(text: string): KnownHead {
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    throw new Refused("the known report is no JSON");
  }
  const head = typeof report === "object" && report !== null && "checkpoint" in report ? report.checkpoint : null;
  const { origin, size, root } = (head ?? {}) as Record<string, unknown>;
  const hash = typeof root === "string" ? fromBase64(root) : null;
  if (typeof origin !== "string" || !Number.isSafeInteger(size) || Number(size) < 0 || hash?.length !== 32)
    throw new Refused("the known report has no checkpoint");
  return { origin, size: Number(size), root: hash };
}

/** The checkpoint of a kept member: its name must say its size. @throws {@link Refused} */
export function keptCheckpoint(bytes: Uint8Array, name: string) {
  const checkpoint = parseCheckpoint(bytes, name);
  if (name !== `checkpoints/${checkpoint.size}`) throw new Refused(`${name} is a checkpoint of ${checkpoint.size} entries`);
  return checkpoint;
}

type Watched = KnownHead & { isAuditors: boolean; found: Uint8Array | null };

/** Compares heads as the tree grows past them; holds the heads alone. */
export class KnownHeads {
  readonly #origin: string;
  readonly #size: number;
  readonly #watched: Watched[] = [];
  readonly #others: KnownHead[] = [];
  #next = 0;

  constructor(origin: string, size: number, auditors: readonly KnownHead[]) {
    this.#origin = origin;
    this.#size = size;
    for (const head of auditors)
      if (head.origin === origin) this.#watched.push({ ...head, isAuditors: true, found: null });
      else this.#others.push(head);
    this.#sort();
  }

  /** Heads that came with the export; before the first entry is read. */
  addOwn(head: KnownHead): void {
    if (head.origin === this.#origin) this.#watched.push({ ...head, isAuditors: false, found: null });
    this.#sort();
  }

  /** The tree grew by one entry, or is still empty. */
  note(tree: VerifierTree): void {
    let root: Uint8Array | null = null;
    for (; this.#next < this.#watched.length && this.#watched[this.#next]!.size === tree.size; this.#next++) {
      root ??= tree.root();
      this.#watched[this.#next]!.found = root;
    }
  }

  /** The root that the tree had at a size that is watched; null when it did not come so far. */
  rootAt(size: number): Uint8Array | null {
    return this.#watched.find((head) => head.size === size)?.found ?? null;
  }

  /** @param before the shard before this one, as the first entry names it */
  verdict(before: { origin: string; size: number; root: string } | null): Verdict {
    let agreed = 0;
    for (const { size, root, found, isAuditors } of this.#watched) {
      const whose = isAuditors ? "the checkpoint that you kept" : "a checkpoint that the export carries";
      if (found === null)
        return fail(this.#size, `${whose} has ${size} entries, the log has ${this.#size}: it is an older state, or a part`);
      if (!equal(found, root))
        return fail(
          agreed,
          `the log is not what it was at ${size} entries by ${whose}; what differs lies between entries ${agreed} and ${size - 1}`,
        );
      agreed = size;
    }
    for (const { origin, size, root } of this.#others)
      if (before !== null && origin === before.origin && size === before.size && hex(root) !== before.root)
        return fail(0, `the shard before, ${origin}, ended otherwise than the checkpoint that you kept`);
    const kept = this.#watched.filter(({ isAuditors }) => isAuditors);
    const largest = kept.at(-1);
    if (largest === undefined)
      return notChecked("no checkpoint of this log was given that you had without the appliance (--known FILE)");
    return pass(
      `${kept.length} known checkpoints are beginnings of this log; the largest has ${largest.size} entries, root ${base64(largest.root)}`,
    );
  }

  #sort(): void {
    this.#watched.sort((a, b) => a.size - b.size);
  }
}
