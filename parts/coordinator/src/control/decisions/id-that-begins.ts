/** A person names a thing by the beginning of its id, as with commits of git. Pure. */
import { ApiError } from "../../api-error.ts";

/** Characters behind `k_` or `job-`: git asks for as many. Fewer would name the only key of a small appliance by its mere kind. */
const LEAST_CHARACTERS = 4;
/** Ids that a refusal names. */
const NAMED = 10;

/**
 * The id itself, or the one that begins so.
 * @param list the command that shows the ids
 * @throws ApiError not_found, id_ambiguous
 */
export function idThatBegins(
  ids: readonly string[],
  start: string,
  { what, list }: { what: string; list: string },
): string {
  if (ids.includes(start)) return start;
  const found = ids.filter((id) => id.startsWith(start));
  const [only] = found;
  if (only === undefined)
    throw new ApiError(
      "not_found",
      `there is no ${what} ${start}: \`${list}\` shows those that there are`,
    );
  const kind = /^[a-z]+[_-]/.exec(only)?.[0].length ?? 0;
  const isShort = start.length - kind < LEAST_CHARACTERS;
  if (found.length === 1 && !isShort) return only;
  const named = found.slice(0, NAMED).join(", ");
  const others = found.length > NAMED ? ` and ${found.length - NAMED} more` : "";
  const why = isShort
    ? `, and at least ${LEAST_CHARACTERS} characters behind ${only.slice(0, kind)} are meant`
    : "";
  throw new ApiError("id_ambiguous", `${start} is how these begin: ${named}${others}${why}`);
}
