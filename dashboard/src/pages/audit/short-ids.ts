/** Short handles for long ids, so that an eye sees which rows speak of the same. Pure. */

const LEAST = 8;
const LONG = /^(?:[a-z]{1,3}_)?[0-9a-f]{12,64}$/;

/** Each long id, and so many of its first characters as tell it from all others; an id that a person can read stands for itself. */
export function shortIds(ids: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...new Set(ids)];
  const long = all.filter((id) => LONG.test(id));
  let length = LEAST;
  while (length < 66 && new Set(long.map((id) => id.slice(0, length))).size < long.length)
    length += 2;
  return new Map(all.map((id) => [id, LONG.test(id) ? id.slice(0, length) : id]));
}
