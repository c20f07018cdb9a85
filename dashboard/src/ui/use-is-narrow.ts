import { useSyncExternalStore } from "react";

/** A phone, or a window as narrow as one: lists fold there. Styles say the same. */
const NARROW = matchMedia("(max-width: 45rem)");

function watch(told: () => void): () => void {
  NARROW.addEventListener("change", told);
  return () => NARROW.removeEventListener("change", told);
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(watch, () => NARROW.matches);
}
