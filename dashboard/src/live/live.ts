/** The tab's live connection, and the hooks that listen to it. */
import type { FeedMessage, FeedTopic } from "@resontech/contracts/live-feed";
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { csrf } from "../api/ask.ts";
import { sessionEnded } from "../api/session-end.ts";
import { areNoticesOn } from "./job-notices.ts";
import { LiveConnection, type LiveState } from "./live-connection.ts";
import type { Told } from "./told.ts";

const HIDDEN_MS = 60_000;
/** People see no difference between four pictures a second and more. */
const BATCH_MS = 250;

const connection = new LiveConnection({
  open: () => new WebSocket(`wss://${location.host}/api/live`),
  csrf,
  onSignedOut: () => sessionEnded.tell(),
  now: () => Date.now(),
  random: () => Math.random(),
});

let hidden: ReturnType<typeof setTimeout> | undefined;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hidden);
  // Who wants to hear of ends of jobs wants that from a hidden page above all.
  if (document.hidden && !areNoticesOn()) hidden = setTimeout(() => connection.pause(), HIDDEN_MS);
  else connection.resume();
});

export function useLiveState(): LiveState {
  return useSyncExternalStore(connection.watch, connection.state);
}

/**
 * @param take what came since the last time, in order
 * @param missed something was not told: read the rows again
 */
export function useTopic(
  topic: FeedTopic | null,
  take: (told: readonly Told[]) => void,
  missed: () => void,
): void {
  const onTold = useEffectEvent(take);
  const onMissed = useEffectEvent(missed);
  const key = JSON.stringify(topic);
  useEffect(() => {
    const wanted = JSON.parse(key) as FeedTopic | null;
    if (wanted === null) return;
    let batch: Told[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const give = () => {
      timer = undefined;
      const told = batch;
      batch = [];
      onTold(told);
    };
    const told = (message: FeedMessage) => {
      if (message.kind === "reset") {
        batch = [];
        return onMissed();
      }
      batch.push(message);
      timer ??= setTimeout(give, BATCH_MS);
    };
    const leave = connection.subscribe(wanted, { told });
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [key]);
}
