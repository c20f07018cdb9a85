/** What a login record says of the host's sessions, given those that are known to be open. */
import { UTMP_TYPE, type UtmpRecord } from "./utmp-record.ts";

/** One whose sign-in was seen. `op` is the one of its record: its sign-out has the same. */
export type OpenSession = { pid: number; line: string | null; op: string };

export type SessionEvent = Pick<UtmpRecord, "pid" | "user" | "host" | "address" | "atMs"> & {
  type: "auth.host.login" | "auth.host.logout";
  op: string;
};

/** More than any host has; who may write the file can't fill the memory. The oldest is forgotten, and so is its end. */
const MAX_OPEN_SESSIONS = 4_096;

/**
 * A process that died is the end of a session only if its sign-in was seen, on the same line where it names one: getty dies as well, and
 * sessions from before the first look are nobody's. A boot ends all, unseen; a sign-in ends, unseen, whatever had its line or its process.
 * @param op for a session that begins
 */
export function observeSession(
  open: readonly OpenSession[],
  record: UtmpRecord,
  op: string,
): { open: readonly OpenSession[]; event: SessionEvent | null } {
  const { type, pid, line, user, host, address, atMs } = record;
  const said = { pid, user, host, address, atMs };
  switch (type) {
    case UTMP_TYPE.bootTime:
      return { open: [], event: null };
    case UTMP_TYPE.userProcess: {
      const others = open.filter(
        (session) => session.pid !== pid && (line === null || session.line !== line),
      );
      return {
        open: [...others, { pid, line, op }].slice(-MAX_OPEN_SESSIONS),
        event: { ...said, type: "auth.host.login", op },
      };
    }
    case UTMP_TYPE.deadProcess: {
      const ended = open.find(
        (session) => session.pid === pid && (line === null || session.line === line),
      );
      if (ended === undefined) return { open, event: null };
      return {
        open: open.filter((session) => session !== ended),
        event: { ...said, type: "auth.host.logout", op: ended.op },
      };
    }
    default:
      return { open, event: null };
  }
}
