/**
 * One page of a search. However little a filter finds, an answer looks at a bounded part of the index and gives the turn back in between: a page may be
 * short, even empty, and still say that there is more.
 */
import { setImmediate } from "node:timers/promises";
import type { Position } from "../follow/position.ts";
import type { EventFilter } from "./event-filter.ts";
import type { IndexedEvent, SearchIndex, Span } from "./search-index.ts";

/** Entries that one statement may look at. */
const WINDOW_ENTRIES = 100_000;
/** So long an answer looks for more before it gives what it has. */
const BUDGET_MS = 1_000;

export type Page = {
  events: IndexedEvent[];
  /** The last entry that was looked at; null when nothing was. */
  at: Position | null;
  /** False once everything that is indexed was looked at. */
  more: boolean;
};

/** @param filters of which an entry matches one at least: of one order and one period @param after the last entry that an earlier page looked at */
export async function searchEvents(
  index: SearchIndex,
  filters: readonly [EventFilter, ...EventFilter[]],
  after: Position | null,
  limit: number,
): Promise<Page> {
  const endsAt = performance.now() + BUDGET_MS;
  const events: IndexedEvent[] = [];
  let at = after;
  const [filter] = filters;
  for (const window of windowsOf(index, filter, after)) {
    if (events.length === limit || performance.now() > endsAt) return { events, at, more: true };
    const found = index.findAny(filters, window, limit - events.length);
    events.push(...found);
    const isCut = events.length === limit;
    const last = found.at(-1);
    at =
      isCut && last !== undefined
        ? { slug: last.slug, index: last.index }
        : index.positionOf(farEnd(window, filter));
    await setImmediate();
    if (isCut && !isFarEnd(index, at, window, filter)) return { events, at, more: true };
  }
  return { events, at, more: false };
}

/** Parts of the index in the filter's order. */
function* windowsOf(
  index: SearchIndex,
  filter: EventFilter,
  after: Position | null,
): Generator<Span> {
  const isNewestFirst = filter.order === "newest";
  const passed = after === null ? null : index.numberOf(after);
  const slugs = isNewestFirst ? index.slugs.reverse() : index.slugs;
  for (const slug of slugs) {
    const span = index.spanOf(slug, filter);
    if (span === null) continue;
    if (passed !== null && isNewestFirst) span.last = Math.min(span.last, passed - 1);
    if (passed !== null && !isNewestFirst) span.first = Math.max(span.first, passed + 1);
    while (span.first <= span.last) {
      const window = isNewestFirst
        ? { first: Math.max(span.first, span.last - WINDOW_ENTRIES + 1), last: span.last }
        : { first: span.first, last: Math.min(span.last, span.first + WINDOW_ENTRIES - 1) };
      yield window;
      if (isNewestFirst) span.last = window.first - 1;
      else span.first = window.last + 1;
    }
  }
}

function farEnd({ first, last }: Span, { order }: EventFilter): number {
  return order === "newest" ? first : last;
}

function isFarEnd(index: SearchIndex, at: Position, window: Span, filter: EventFilter): boolean {
  return index.numberOf(at) === farEnd(window, filter);
}
