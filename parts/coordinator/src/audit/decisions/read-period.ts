/**
 * The period of a search. Times that move with the clock stand still from the first page to the last: the cursor carries what they were. Pure.
 */
import { readTime, TIME_FORMS } from "@resontech/contracts/read-time";
import { SearchRefused } from "./search-refused.ts";

type Asked = { from?: string; to?: string; cursor?: string };

/** @property cursor as the index gave it @property seal makes a cursor of the index one of this search */
export type Period = {
  from?: string;
  to?: string;
  cursor?: string;
  seal: (cursor: string | null) => string | null;
};

/** A cursor of the index, and where a time moved with the clock, the one that it was. */
const SEALED = /^([A-Za-z0-9_-]+)\.([0-9a-z]*)\.([0-9a-z]*)$/;

/** @throws SearchRefused */
export function readPeriod({ from, to, cursor }: Asked, nowMs: number): Period {
  const [, inner, sealedFrom = "", sealedTo = ""] = SEALED.exec(cursor ?? "") ?? [];
  const read = (edge: "from" | "to", text: string | undefined, sealed: string) => {
    if (text === undefined) return null;
    const time = readTime(text, edge, nowMs);
    if (time === null)
      throw new SearchRefused(`${edge} ${JSON.stringify(text)} is no time: write ${TIME_FORMS}`);
    const kept = Number.parseInt(sealed, 36);
    return time.isRelative && Number.isSafeInteger(kept) && kept <= nowMs + 86_400_000
      ? { ...time, ms: kept }
      : time;
  };
  const [begin, end] = [read("from", from, sealedFrom), read("to", to, sealedTo)];
  if (begin !== null && end !== null && begin.ms >= end.ms)
    throw new SearchRefused("from is not before to: no entry lies between them");
  const isMoving = begin?.isRelative === true || end?.isRelative === true;
  const bare = inner ?? cursor;
  return {
    ...(begin === null ? {} : { from: new Date(begin.ms).toISOString() }),
    ...(end === null ? {} : { to: new Date(end.ms).toISOString() }),
    ...(bare === undefined ? {} : { cursor: bare }),
    seal: (given) =>
      given === null || !isMoving
        ? given
        : `${given}.${begin?.ms.toString(36) ?? ""}.${end?.ms.toString(36) ?? ""}`,
  };
}
