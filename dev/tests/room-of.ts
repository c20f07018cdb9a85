/** Of `parts/`, what is no part: tests of the list of all parts belong to the list. */
const TESTS = "test";

/** The room of a file: a part below `parts/`, else a folder at the top; `.` for what lies in none. @param file its path in this tree */
export function roomOf(file: string): string {
  const [top = "", next, ...rest] = file.split("/");
  if (next === undefined) return ".";
  return top === "parts" && next !== TESTS && rest.length > 0 ? `${top}/${next}` : top;
}
