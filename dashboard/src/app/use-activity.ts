import { useEffect } from "react";
import { ask } from "../api/ask.ts";

const TOLD_EVERY_MS = 60_000;
const INPUTS = ["keydown", "pointerdown", "pointermove"] as const;

/** Tells once a minute that the person is at work: keys and pointer count, and nothing that the page does by itself. */
export function useActivity(): void {
  useEffect(() => {
    let told = Date.now();
    const tell = () => {
      if (Date.now() - told < TOLD_EVERY_MS) return;
      told = Date.now();
      // A request that fails is told by whatever the person does next.
      ask("POST", "/api/session/activity").catch(() => {});
    };
    for (const input of INPUTS) addEventListener(input, tell, { passive: true });
    return () => {
      for (const input of INPUTS) removeEventListener(input, tell);
    };
  }, []);
}
