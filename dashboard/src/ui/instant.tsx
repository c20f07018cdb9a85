import { useSyncExternalStore } from "react";
import { duration, localInstant, utcInstant } from "./instants.ts";

/** How long ago, with the time itself on hover and for screen readers. */
export function Ago({ at }: { at: string }) {
  const ago = useClock(Date.parse(at), (now) => duration(now - Date.parse(at)));
  return (
    <time dateTime={at} title={`${localInstant(at)} · ${utcInstant(at)}`}>
      {ago} ago
    </time>
  );
}

/** Shows the time from one instant to another, or until now. */
export function Lasted({ from, to }: { from: string; to: string | null }) {
  const lasted = useClock(to === null ? Date.parse(from) : null, (now) =>
    duration((to === null ? now : Date.parse(to)) - Date.parse(from)),
  );
  return <span>{lasted}</span>;
}

export function At({ at }: { at: string }) {
  return (
    <time dateTime={at} title={utcInstant(at)}>
      {localInstant(at)}
    </time>
  );
}

/** One of the whole page. */
function clock(everyMs: number): (watcher: () => void) => () => void {
  const watchers = new Set<() => void>();
  setInterval(() => {
    if (!document.hidden) for (const watcher of watchers) watcher();
  }, everyMs);
  return (watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  };
}

const HOUR_MS = 3_600_000;
const eachSecond = clock(1_000);
const eachMinute = clock(60_000);
const never = () => () => {};

/**
 * What is said now, and said anew as time goes on. A list has hundreds of times: what has its minutes as its smallest part is looked at once a minute, and what
 * says the same as before is not drawn again.
 * @param since from when the time is counted, Unix milliseconds; null: it stands still
 */
function useClock(since: number | null, say: (now: number) => string): string {
  const watch = since === null ? never : Date.now() - since > HOUR_MS ? eachMinute : eachSecond;
  return useSyncExternalStore(watch, () => say(Date.now()));
}
