import { type ListEdit, changedList, listChanges } from "./decisions/list-changes.ts";
import {
  INPUT_LISTS,
  type InputListName,
  type InputLists,
  type InputMoment,
  NO_LISTS,
  type PlanInput,
} from "./decisions/plan-input.ts";
import { isSameValue } from "./decisions/same-value.ts";
import {
  DIGEST_BYTES,
  EMPTY_LIST_DIGEST,
  inputDigest,
  itemDigest,
  ITEMS_AT_ONCE,
  listDigest,
} from "./plan-input-digest.ts";

/** As it stands in a line: so many stay, so many go, these come. */
type WrittenEdit = [stay: number, gone: number, come: object[]];
/** One line of a record. Edits of a list that stand in several go on from line to line. */
type WrittenLine = { moment: InputMoment } | { list: InputListName; edits: WrittenEdit[] };

type KeptList = { items: readonly object[]; digests: Buffer; digest: string };

/** What changed from one recorded input to the next, as lines of text. */
export class PlanInputChanges {
  readonly #before = new Map<InputListName, KeptList>();

  /** The next input is told whole. */
  forget(): void {
    this.#before.clear();
  }

  get isEmpty(): boolean {
    return this.#before.size === 0;
  }

  /** With pauses, in which the input stays what it is. Whoever breaks off forgets. */
  *next({ moment, lists }: PlanInput): Generator<void, { lines: Buffer[]; digest: string }> {
    const lines = [lineOf({ moment })];
    const digests: Partial<Record<InputListName, string>> = {};
    for (const name of INPUT_LISTS) {
      const before = this.#before.get(name) ?? NO_LIST;
      const items = yield* settled(before.items, lists[name]);
      const edits = listChanges(before.items, items);
      yield;
      const kept =
        edits.length === 0
          ? { ...before, items }
          : yield* changed(name, before, { items, edits }, lines);
      this.#before.set(name, kept);
      digests[name] = kept.digest;
      yield;
    }
    return { lines, digest: inputDigest(moment, digests as Record<InputListName, string>) };
  }
}

const NO_LIST: KeptList = { items: [], digests: Buffer.alloc(0), digest: EMPTY_LIST_DIGEST };

function* changed(
  list: InputListName,
  before: KeptList,
  { items, edits }: { items: readonly object[]; edits: readonly ListEdit<object>[] },
  lines: Buffer[],
): Generator<void, KeptList> {
  const digests = Buffer.allocUnsafe(items.length * DIGEST_BYTES);
  let [old, now, unsaid] = [0, 0, 0];
  let texts: string[] = [];
  const say = () => {
    if (texts.length > 0)
      lines.push(Buffer.from(`{"list":${JSON.stringify(list)},"edits":[${texts.join()}]}\n`));
    [texts, unsaid] = [[], 0];
  };
  const stays = (count: number) => {
    before.digests.copy(
      digests,
      now * DIGEST_BYTES,
      old * DIGEST_BYTES,
      (old + count) * DIGEST_BYTES,
    );
    old += count;
    now += count;
  };
  for (const { stay, gone, come } of edits) {
    stays(stay);
    old += gone;
    let head = [stay, gone];
    for (let from = 0; from === 0 || from < come.length; from += ITEMS_AT_ONCE) {
      const some = come.slice(from, from + ITEMS_AT_ONCE).map((item) => JSON.stringify(item));
      for (const text of some) {
        itemDigest(text).copy(digests, now * DIGEST_BYTES);
        now += 1;
      }
      texts.push(`[${head.join()},[${some.join()}]]`);
      head = [0, 0];
      unsaid += some.length;
      if (unsaid >= ITEMS_AT_ONCE) {
        say();
        yield;
      }
    }
  }
  stays(before.items.length - old);
  say();
  return { items, digests, digest: listDigest(digests) };
}

/**
 * The same list, with objects of before wherever these say the same at the same place, or at one that has moved along. Some are the same objects for as
 * long as they say the same, and others are made anew each time.
 */
function* settled(
  before: readonly object[],
  now: readonly object[],
): Generator<void, readonly object[]> {
  const items = [...now];
  let shift = 0;
  let compared = 0;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]!;
    if (before[at + shift] === item) continue;
    const moved = movedTo(before, item, at + shift);
    if (moved !== null) {
      shift = moved - at;
      items[at] = before[moved]!;
    }
    compared += 1;
    if (compared % COMPARED_AT_ONCE === 0) yield;
  }
  return items;
}

/** Where the item stood, or one that says the same: near by, or further on where it is the same object. */
function movedTo(before: readonly object[], item: object, place: number): number | null {
  for (const step of STEPS) {
    const known = before[place + step];
    if (known !== undefined && isSameValue(known, item)) return place + step;
  }
  const end = Math.min(before.length, place + FAR);
  for (let far = Math.max(0, place); far < end; far += 1) if (before[far] === item) return far;
  return null;
}

/** So many may go at once, as the head of a queue: pointers are compared, and nothing is read. */
const FAR = 1_024;
/** An item or some went before it, or one came: more at once are rare, and told anew. */
const STEPS = [0, 1, -1, 2, 3, 4];
/** Some tenths of a millisecond. */
const COMPARED_AT_ONCE = 256;

function lineOf(line: WrittenLine): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/** An input, as the lines of one record after another make it. */
export class GrowingInput {
  #moment: InputMoment | null = null;
  #lists: InputLists = NO_LISTS;

  /** Takes the lines of one record, with a pause after each. @throws RangeError, SyntaxError where they don't follow what was taken before */
  *take(lines: Buffer): Generator<void, void> {
    const edits = new Map<InputListName, ListEdit<object>[]>();
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf(NEWLINE, from);
      if (end < 0) throw new RangeError("a line of the record has no end");
      const line = JSON.parse(lines.toString("utf8", from, end)) as WrittenLine;
      from = end + 1;
      if ("moment" in line) this.#moment = line.moment;
      else {
        const all = edits.get(line.list) ?? [];
        for (const [stay, gone, come] of line.edits) all.push({ stay, gone, come });
        edits.set(line.list, all);
      }
      yield;
    }
    for (const [list, ofList] of edits) {
      const before: readonly object[] = this.#lists[list];
      this.#lists = { ...this.#lists, [list]: changedList(before, ofList) };
      yield;
    }
  }

  /** @throws RangeError before anything was taken */
  get input(): PlanInput {
    if (this.#moment === null) throw new RangeError("no record was taken");
    return { moment: this.#moment, lists: this.#lists };
  }
}

const NEWLINE = 0x0a;
