import { useEffect, useState } from "react";
import { duration, localInstant, utcInstant } from "./instants.ts";

/** How long ago, with the time itself on hover and for screen readers. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={`${localInstant(at)} · ${utcInstant(at)}`}>
      {duration(now - Date.parse(at))} ago
    </time>
  );
}

/** From one instant to another, or until now. */
export function Lasted({ from, to }: { from: string; to: string | null }) {
  const now = useNow();
  return <span>{duration((to === null ? now : Date.parse(to)) - Date.parse(from))}</span>;
}

export function At({ at }: { at: string }) {
  return (
    <time dateTime={at} title={utcInstant(at)}>
      {localInstant(at)}
    </time>
  );
}

const TICK_MS = 1_000;
const watchers = new Set<(now: number) => void>();
setInterval(() => {
  if (!document.hidden) for (const watcher of watchers) watcher(Date.now());
}, TICK_MS);

/** One clock for the whole page. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    watchers.add(setNow);
    return () => void watchers.delete(setNow);
  }, []);
  return now;
}
