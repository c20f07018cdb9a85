/**
 * Shows the entries of an export that was judged before, one after the other. It is read again from its first byte and hashed again: what is shown is
 * only what gives the judged root. Memory does not grow with the log.
 */
import { ArchiveReader } from "../input/archive.ts";
import { fromBase64 } from "../input/bytes.ts";
import {
  type Disclosure,
  MAX_DISCLOSURE_BYTES,
  MAX_DISCLOSURES_BYTES,
  readDisclosures,
} from "../disclosures/disclosures.ts";
import { Integrity } from "../tree/integrity.ts";
import { commitmentsOf, type Leaf } from "../leaf/leaf.ts";
import type { EntryEvent, ListedEntry, OpenedField } from "./listed-entry.ts";
import { hasOutcome, isAskedFor, type ListingFilter } from "./listing-filter.ts";
import { MAX_NOTE_BYTES, Refused } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";
import { readLeaf, readThoroughly } from "../leaf/read-leaf.ts";
import { disclosuresOf, type ExpectedFile } from "../tree/tree.ts";
import type { Report } from "../verify.ts";

/** Characters of opened values that are held of one bundle: 256 entries, each with one of the longest that there is. */
const MAX_HELD = 2_097_152;

/** Of an opened value: what is shown, and whether it is asked for. */
type Held = { text: string | null; isPath: boolean; isValue: boolean };

export type Listing = {
  /** The judged export, from its first byte. */
  bundle: AsyncIterable<Uint8Array>;
  report: Report;
  platform: Platform;
  filter: ListingFilter;
  show: (entry: ListedEntry) => void;
  /** Is waited for between bundles. */
  flush: () => Promise<void>;
};

/** Whether its entries are what the checkpoint says: nothing else is shown. */
export function isListable({ refused, verdicts }: Report): boolean {
  return refused === null && verdicts.INTEGRITY.verdict === "PASS";
}

/**
 * @returns how many were shown
 * @throws {@link Refused} when the bytes are not those that were judged; what was shown is then not to be believed
 */
export async function listEntries({
  bundle,
  report,
  platform,
  filter,
  show,
  flush,
}: Listing): Promise<number> {
  const { size, root } = report.checkpoint!;
  const reader = new ArchiveReader(bundle);
  let lines: readonly Disclosure<Held>[] = [];
  /** The first line of an entry that is still to come. */
  let at = 0;
  let shown = 0;
  const begin = async (file: ExpectedFile): Promise<void> => {
    await flush();
    at = 0;
    let held = 0;
    const hold = (field: string, value: string): Held => {
      held += value.length;
      const isPath = field === "object.id" && filter.isObject?.(value) === true;
      return {
        text: held > MAX_HELD ? null : value,
        isPath,
        isValue: filter.isValue?.(value) === true,
      };
    };
    const name = disclosuresOf(file);
    lines =
      (await reader.peek()) === name
        ? await readDisclosures(
            reader.lines(name, MAX_DISCLOSURES_BYTES, MAX_DISCLOSURE_BYTES),
            name,
            platform,
            hold,
          )
        : [];
  };
  const entry = (bytes: Uint8Array, from: number, to: number, index: number): null => {
    const read = readLeaf(bytes, from, to);
    if ("fault" in read) throw changed();
    const first = at;
    while (at < lines.length && lines[at]!.index <= index) at += 1;
    const opened = openedOf(read.leaf, lines.slice(first, at));
    const listed =
      isAskedFor(read.leaf, opened.isPath, filter) && (filter.isValue === null || opened.isValue);
    if (!listed) return null;
    const whole = readThoroughly(bytes.subarray(from, to));
    if ("fault" in whole) throw changed();
    const event = whole.leaf as unknown as EntryEvent; // Its envelope was just checked.
    if (!hasOutcome(event, filter)) return null;
    show({ entry: index, event, values: opened.values });
    shown += 1;
    return null;
  };
  try {
    await reader.member("checkpoint", MAX_NOTE_BYTES);
    for (
      let name = await reader.peek();
      name.startsWith("checkpoints/");
      name = await reader.peek()
    )
      await reader.member(name, MAX_NOTE_BYTES);
    const judge = { begin, entry, added: () => undefined, end: () => undefined };
    const { verdict } = await new Integrity(reader, platform, judge).verdict({
      size,
      root: fromBase64(root)!,
    });
    await flush();
    if (verdict !== "PASS") throw changed();
    return shown;
  } finally {
    await reader.close();
  }
}

type Opened = { values: Record<string, OpenedField>; isPath: boolean; isValue: boolean };

/** @param lines of this entry, in an export that was judged */
function openedOf(leaf: Leaf, lines: readonly Disclosure<Held>[]): Opened {
  const opened: Opened = { values: {}, isPath: false, isValue: false };
  if (lines.length === 0) return opened;
  const commitments = commitmentsOf(leaf);
  for (const line of lines) {
    const { field } = line;
    if ("erased" in line) opened.values[field] = { erased: line.erased };
    else if (!line.opens || commitments?.get(field) !== line.commitment)
      opened.values[field] = { opens: false };
    else {
      opened.values[field] = { value: line.held!.text };
      opened.isPath ||= line.held!.isPath;
      opened.isValue ||= line.held!.isValue;
    }
  }
  return opened;
}

function changed(): Refused {
  return new Refused(
    "the export is not the one any more that was judged: what was listed is not to be believed",
  );
}
