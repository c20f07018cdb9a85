/** How one list became another, by its items: what is the same object stayed. Pure. */

/** From where the one before stopped: so many stay, so many go, and these come. What follows the last one stays. */
export type ListEdit<T> = { stay: number; gone: number; come: readonly T[] };

/** An item that is not found so near is looked up. */
const NEAR = 8;

/** Edits that make `after` of `before`; few where most items kept their order, and right in any case. */
export function listChanges<T extends object>(
  before: readonly T[],
  after: readonly T[],
): ListEdit<T>[] {
  const edits: ListEdit<T>[] = [];
  let places: Map<T, number> | null = null;
  let [old, now, stay] = [0, 0, 0];
  let gone = 0;
  let come: T[] = [];
  const close = () => {
    if (gone > 0 || come.length > 0) {
      edits.push({ stay, gone, come });
      [stay, gone, come] = [0, 0, []];
    }
  };
  while (now < after.length) {
    const item = after[now]!;
    if (before[old] === item) {
      close();
      stay += 1;
      old += 1;
      now += 1;
      continue;
    }
    if (old >= before.length) {
      // Most often the only ones: those that came last stand last.
      for (; now < after.length; now += 1) come.push(after[now]!);
      break;
    }
    const skipped = nearby(before, after, old, now);
    if (skipped === null) {
      places ??= new Map(before.map((each, at) => [each, at]));
      const place = places.get(item) ?? -1;
      if (place >= old) {
        gone += place - old;
        old = place;
      } else {
        come.push(item);
        now += 1;
      }
      continue;
    }
    gone += skipped.gone;
    for (let n = 0; n < skipped.come; n += 1) come.push(after[now + n]!);
    old += skipped.gone;
    now += skipped.come;
  }
  gone += before.length - old;
  close();
  return edits;
}

/** How many go and come until the next item that stayed, where that is near. */
function nearby<T>(
  before: readonly T[],
  after: readonly T[],
  old: number,
  now: number,
): { gone: number; come: number } | null {
  for (let far = 1; far <= NEAR; far += 1) {
    const same = before[old + far];
    const later = after[now + far];
    // As many went as came, the commonest: an item that changed.
    if (same !== undefined && same === later) return { gone: far, come: far };
    if (same !== undefined && same === after[now]) return { gone: far, come: 0 };
    if (later !== undefined && later === before[old]) return { gone: 0, come: far };
  }
  return null;
}

/** What `before` becomes. @throws RangeError where the edits are of another list */
export function changedList<T>(before: readonly T[], edits: readonly ListEdit<T>[]): T[] {
  const after: T[] = [];
  let at = 0;
  for (const { stay, gone, come } of edits) {
    if (at + stay + gone > before.length) throw new RangeError("changes of another list");
    for (let n = 0; n < stay; n += 1) after.push(before[at + n]!);
    at += stay + gone;
    for (const item of come) after.push(item);
  }
  for (; at < before.length; at += 1) after.push(before[at]!);
  return after;
}
