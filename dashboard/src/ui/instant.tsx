import { useSyncExternalStore } from "react";
import { duration, localInstant, utcInstant } from "./instants.ts";

/** How long ago, with the time itself on hover and for screen readers. */
export function Ago({ at }: { at: string }) {
  const ago = useClock((now) => duration(now - Date.parse(at)));
  return (
    <time dateTime={at} title={`${localInstant(at)} · ${utcInstant(at)}`}>
      {ago} ago
    </time>
  );
}

/** From one instant to another, or until now. */
export function Lasted({ from, to }: { from: string; to: string | null }) {
  const lasted = useClock((now) =>
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

const TICK_MS = 1_000;
const watchers = new Set<() => void>();
setInterval(() => {
  if (!document.hidden) for (const watcher of watchers) watcher();
}, TICK_MS);

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** One clock for the whole page. What says the same as a second before is not drawn again: a list has hundreds of times. */
function useClock(say: (now: number) => string): string {
  return useSyncExternalStore(watch, () => say(Date.now()));
}
