/** How close rows of tables stand: the person's choice, kept in this browser. */
import { useSyncExternalStore } from "react";

type Density = "wide" | "dense";

const NAME = "rt-density";
const watchers = new Set<() => void>();

function readDensity(): Density {
  return localStorage.getItem(NAME) === "dense" ? "dense" : "wide";
}

/** The style sheet looks at the root element. */
export function applyDensity(): void {
  document.documentElement.dataset["density"] = readDensity();
}

export function setDensity(density: Density): void {
  localStorage.setItem(NAME, density);
  applyDensity();
  for (const watcher of watchers) watcher();
}

export function useDensity(): Density {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, readDensity);
}
