/** A line of a log as the address names it: `#site-1:12345`, by the byte that it begins at. Pure. */
import type { JobLogsReply } from "@resontech/contracts/http-jobs";

type Log = JobLogsReply[number];
type LineAddress = { member: string; at: number | null };

/** Sites first, as that is where the job's code runs; of a site its last attempt first. */
export function inReadingOrder(logs: readonly Log[]): Log[] {
  return logs.toSorted(
    (a, b) =>
      Number(a.site === null) - Number(b.site === null) ||
      b.attempt - a.attempt ||
      logName(a).localeCompare(logName(b), undefined, { numeric: true }),
  );
}

/** Who is shown when nobody was chosen: who printed something is more to see than who did not. */
export function firstLog(logs: readonly Log[]): Log | null {
  const ordered = inReadingOrder(logs);
  return ordered.find(({ storedBytes }) => storedBytes > 0) ?? ordered[0] ?? null;
}

export function addressOfLine(logs: readonly Log[], member: string, at: number): string {
  const log = logs.find((one) => one.member === member);
  if (log === undefined) return `#${member}:${at}`;
  const isLast = !logs.some((one) => logName(one) === logName(log) && one.attempt > log.attempt);
  return `#${encodeURIComponent(logName(log))}${isLast ? "" : `@${log.attempt}`}:${at}`;
}

/** Null where the address names no log of this job. */
export function lineOfAddress(logs: readonly Log[], hash: string): LineAddress | null {
  const found = /^#([^@:]+)(?:@(\d+))?(?::(\d+))?$/.exec(hash);
  if (found === null) return null;
  const [, name = "", attempt, at] = found;
  const named = inReadingOrder(logs).filter(
    (log) => logName(log) === decoded(name) || log.member === name,
  );
  const log =
    attempt === undefined ? named[0] : named.find((one) => one.attempt === Number(attempt));
  return log === undefined
    ? null
    : { member: log.member, at: at === undefined ? null : Number(at) };
}

export function logName({ site, role }: Pick<Log, "site" | "role">): string {
  return site ?? role;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
