/** Whether this browser tells when the person's jobs end: the person's choice, kept in this browser. */
import { useSyncExternalStore } from "react";

const NAME = "rt-job-notices";
const watchers = new Set<() => void>();

/** Wanted here, and let by the browser. */
export function areNoticesOn(): boolean {
  return (
    "Notification" in window &&
    Notification.permission === "granted" &&
    localStorage.getItem(NAME) === "on"
  );
}

/** Asks the browser, where it has not been asked. @returns whether notices come from now on */
export async function setNotices(isWanted: boolean): Promise<boolean> {
  if (isWanted && "Notification" in window && Notification.permission === "default")
    await Notification.requestPermission();
  localStorage.setItem(NAME, isWanted ? "on" : "off");
  for (const watcher of watchers) watcher();
  return areNoticesOn();
}

export function useNoticesOn(): boolean {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, areNoticesOn);
}
