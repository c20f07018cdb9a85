/**
 * As the client makes it: trimmed, lower case, spaces to hyphens, then letters and digits of any script, `-` and `_` alone.
 * @returns "job" when nothing is left
 */
export function slugOf(name: string): string {
  return (
    name
      .trim()
      .toLowerCase()
      .replaceAll(" ", "-")
      .replaceAll(/[^\p{L}\p{N}_-]/gu, "") || "job"
  );
}
