/** Whether single keys lead somewhere: the person's choice, kept in this browser. */
import { useSyncExternalStore } from "react";

const NAME = "rt-single-keys";
const watchers = new Set<() => void>();

export function areSingleKeysOn(): boolean {
  return localStorage.getItem(NAME) !== "off";
}

export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(NAME, isOn ? "on" : "off");
  for (const watcher of watchers) watcher();
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, areSingleKeysOn);
}
