import { useEffect, useState } from "react";
import { ask } from "../api/ask.ts";
import type { Session } from "../api/session.ts";

const TOLD_EVERY_MS = 60_000;
/** Before the session ends for want of input. */
const WARNED_BEFORE_MS = 120_000;
const INPUTS = ["keydown", "pointerdown", "pointermove"] as const;

/**
 * Tells once a minute that the person is at work: keys and pointer count, and nothing that the page does by itself.
 * @returns whether the session is about to end because nobody is
 */
export function useActivity({ idleInS }: Pick<Session, "idleInS">): boolean {
  const [isEnding, setEnding] = useState(false);
  useEffect(() => {
    let told = Date.now();
    let isWarned = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const warnIn = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), Math.max(0, ms - WARNED_BEFORE_MS));
    };
    // The person may be at work in another window: to ask is no activity.
    const look = async (): Promise<void> => {
      const left = await ask("GET", "/api/session").catch(() => null);
      if (left === null) return;
      const ms = left.idleInS * 1_000;
      isWarned = ms <= WARNED_BEFORE_MS + 1_000;
      setEnding(isWarned);
      warnIn(isWarned ? ms + WARNED_BEFORE_MS : ms);
    };
    const tell = (): void => {
      if (!isWarned && Date.now() - told < TOLD_EVERY_MS) return;
      told = Date.now();
      isWarned = false;
      setEnding(false);
      warnIn(idleInS * 1_000);
      // A request that fails is told by whatever the person does next.
      ask("POST", "/api/session/activity").catch(() => {});
    };
    warnIn(idleInS * 1_000);
    for (const input of INPUTS) addEventListener(input, tell, { passive: true });
    return () => {
      clearTimeout(timer);
      for (const input of INPUTS) removeEventListener(input, tell);
    };
  }, [idleInS]);
  return isEnding;
}
