/** What every look into the log has in common: it is on record before it is answered, and what nobody could find is refused. */
import { ApiError } from "../api-error.ts";
import { SearchRefused } from "../audit/decisions/search-refused.ts";

/** @param record told what is shown; null for a refusal, which says something as well: that an entry is not there, or not the caller's */
export async function looked<T>(
  look: () => Promise<T>,
  record: (shown: T | null) => Promise<void>,
): Promise<T> {
  let shown: T;
  try {
    shown = await look();
  } catch (error) {
    await record(null);
    throw error;
  }
  await record(shown);
  return shown;
}

/** @throws ApiError `search_invalid` in place of what the reader of a search says */
export function asWritten<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SearchRefused) throw new ApiError("search_invalid", error.message);
    throw error;
  }
}

/** Leaves out the members that nobody gave. */
export function definedOf<T extends object>(
  given: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
