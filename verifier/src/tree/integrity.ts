/**
 * INTEGRITY: every entry is hashed again, every tile compared, and the root computed from the entries alone. Nothing here reads what an entry says:
 * that is for others to judge, one entry after the other.
 */
import type { ArchiveReader } from "../input/archive.ts";
import { equal } from "../input/bytes.ts";
import { MAX_LEAF_BYTES } from "../leaf/leaf.ts";
import type { Checkpoint } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";
import {
  entriesOf,
  type ExpectedFile,
  expectedFiles,
  HASH_BYTES,
  VerifierTree,
  WIDTH,
} from "./tree.ts";
import { fail, pass, type Verdict } from "../verdicts.ts";

/** Who reads entries as they are hashed. */
export type EntryJudge = {
  /** A bundle of entries is the next file but for what goes with it. */
  begin: (file: ExpectedFile) => Promise<void>;
  /** An entry, between two places of its bundle. @returns what is wrong with it, in words that follow the bundle's name */
  entry: (bundle: Uint8Array, from: number, to: number, index: number) => string | null;
  /** The tree has grown by that entry. */
  added: () => void;
  /** @param count of entries so far, all of the bundle's among them */
  end: (count: number) => void;
};

const SILENT_JUDGE: EntryJudge = {
  begin: async () => undefined,
  entry: () => null,
  added: () => undefined,
  end: () => undefined,
};

export class Integrity {
  readonly tree: VerifierTree;
  readonly #reader: ArchiveReader;
  readonly #judge: EntryJudge;

  constructor(
    reader: ArchiveReader,
    platform: Pick<Platform, "sha256" | "sha256Into">,
    judge: EntryJudge = SILENT_JUDGE,
  ) {
    this.tree = new VerifierTree(platform);
    this.#reader = reader;
    this.#judge = judge;
  }

  /** Reads all files of the tree. */
  async verdict({ size, root }: Pick<Checkpoint, "size" | "root">): Promise<Verdict> {
    let failure: Verdict | null = null;
    for (const file of expectedFiles(size)) {
      const isBundle = file.kind === "entries";
      if (isBundle) await this.#judge.begin(file);
      const maxBytes = isBundle ? file.width * (2 + MAX_LEAF_BYTES) : file.width * HASH_BYTES;
      const content = await this.#reader.member(file.name, maxBytes);
      const fault: Verdict | null = isBundle
        ? this.#readEntries(content, file)
        : this.#compareTile(content, file, failure);
      // The first fault in the order of the tree is the one that is told.
      if (fault !== null && (failure === null || (fault.index ?? 0) < (failure.index ?? 0)))
        failure = fault;
      // Without all its entries the rest of the tree can't be built.
      if (fault !== null && isBundle && this.tree.size < file.tile * WIDTH + file.width)
        return fault;
    }
    if (failure !== null) return failure;
    if (!equal(this.tree.root(), root))
      return fail(
        0,
        "entries and tiles agree, but their root is not the checkpoint's: it is another log, or an older state",
      );
    return pass(`${this.tree.size} entries hashed again; their root is the checkpoint's`);
  }

  #readEntries(content: Uint8Array, file: ExpectedFile): Verdict | null {
    const first = file.tile * WIDTH;
    let failure: Verdict | null = null;
    let at = 0;
    for (let index = first; index < first + file.width; index++) {
      const end =
        at + 2 <= content.length
          ? at + 2 + content[at]! * 256 + content[at + 1]!
          : Number.POSITIVE_INFINITY;
      if (end > content.length) return fail(index, `${file.name} ends within an entry`);
      const fault = this.#judge.entry(content, at + 2, end, index);
      if (fault !== null) failure ??= fail(index, `${file.name}: ${fault}`);
      // The byte before the entry, read already, becomes the 0x00 of RFC 6962's leaf hash.
      content[at + 1] = 0x00;
      this.tree.add(content.subarray(at + 1, end));
      this.#judge.added();
      at = end;
    }
    this.#judge.end(first + file.width);
    return (
      failure ??
      (at === content.length ? null : fail(first, `${file.name} holds more than its entries`))
    );
  }

  /** @param known the fault that was found first: a hash above it differs because of it, and says less */
  #compareTile(content: Uint8Array, file: ExpectedFile, known: Verdict | null): Verdict | null {
    const leavesPerHash = WIDTH ** file.level;
    const first = file.tile * WIDTH * leavesPerHash;
    if (content.length !== file.width * HASH_BYTES)
      return fail(first, `${file.name} has not its size`);
    const expected = this.tree.tile(file.level);
    for (let at = 0; at < content.length; at++) {
      if (content[at] === expected[at]) continue;
      const hash = Math.floor(at / HASH_BYTES);
      const index = first + hash * leavesPerHash;
      const isExplained =
        known?.index !== undefined && known.index >= index && known.index < index + leavesPerHash;
      if (!isExplained)
        return fail(
          index,
          `${file.name} is not what ${file.level === 0 ? entriesOf(file) : "its entries"} give`,
        );
      at = (hash + 1) * HASH_BYTES - 1;
    }
    return null;
  }
}
