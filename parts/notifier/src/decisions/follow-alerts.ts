import type { Alert, News } from "./alert.ts";

/** @property seenAt when it was last in force @property toldAt when people last heard of it */
export type KnownAlert = { alert: Alert; seenAt: number; toldAt: number };
export type Known = Readonly<Record<string, KnownAlert>>;

/** What is gone for shorter is not over: a Prometheus that starts has judged nothing yet. */
const GONE_MS = 90_000;
/** Who does nothing hears of it again. */
const REMIND_MS = 24 * 3_600_000;

/**
 * What is new since the last look.
 * @param active ids of alerts that are in force or about to be again; null: nobody can say, so everything stays as it is
 */
export function followAlerts(
  known: Known,
  firing: readonly Alert[],
  active: ReadonlySet<string> | null,
  now: number,
): { known: Known; news: News[] } {
  const next: Record<string, KnownAlert> = {};
  const news: News[] = [];
  for (const alert of firing) {
    const before = known[alert.id];
    const isDue = before === undefined || now - before.toldAt >= REMIND_MS;
    if (isDue) news.push({ status: "firing", alert, at: now });
    next[alert.id] = { alert, seenAt: now, toldAt: isDue ? now : before.toldAt };
  }
  for (const [id, entry] of Object.entries(known)) {
    if (id in next) continue;
    const isHere = active === null || active.has(id);
    if (isHere) next[id] = { ...entry, seenAt: now };
    else if (now - entry.seenAt < GONE_MS) next[id] = entry;
    else news.push({ status: "resolved", alert: entry.alert, at: now });
  }
  return { known: next, news };
}
